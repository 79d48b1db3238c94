// Squid's native access log, read back: ours and a Squid's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace support {

struct LogLine {
  double time = 0;
  int elapsed_ms = 0;
  std::string client;
  std::string result;  // TCP_MISS
  int status = 0;
  long bytes = 0;
  std::string method;
  std::string url;
  std::string user;
  std::string hierarchy;  // CD_SIBLING_HIT
  std::string from;       // the address asked, or "-"
  std::string type;
};

// A line that is not in the format throws std::runtime_error.
std::vector<LogLine> parse_access_log(std::string_view text);

// The lines about one URL, in order.
std::vector<LogLine> lines_about(std::string_view url, const std::vector<LogLine>& lines);

}  // namespace support
