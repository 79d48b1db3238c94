// Values of a Report of the cache, for a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/command/terminal_text.hpp"
#include "proxy/inspect/report.hpp"

namespace proxy::command {

// The number of this name; 0 if there is none.
inline std::uint64_t number_in(const inspect::Report& report, std::string_view name) {
  const auto* number = report.find<std::uint64_t>(name);
  return number ? *number : 0;
}

// The text of this name, escaped; `otherwise` if there is none.
inline std::string text_in(const inspect::Report& report, std::string_view name,
                           std::string_view otherwise) {
  const auto* text = report.find<std::string>(name);
  return text ? escaped(*text) : std::string(otherwise);
}

}  // namespace proxy::command
