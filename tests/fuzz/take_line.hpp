// For fuzz targets whose input is several texts, one per line.
#pragma once

#include <algorithm>
#include <string_view>

// Removes and returns the first line; empty if nothing is left.
inline std::string_view take_line(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  return line;
}
