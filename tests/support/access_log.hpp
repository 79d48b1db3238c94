// Reads access logs in Squid's native format, of Hearsay and of Squid.
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
  std::string from;       // the address of the server asked, or "-"
  std::string type;
  std::vector<std::string> words;  // of Hearsay only: "not-stored/no-store", "failure/cut"
};

// Throws std::runtime_error on a line in another format.
std::vector<LogLine> parse_access_log(std::string_view text);

// The lines about one URL, in order.
std::vector<LogLine> lines_about(std::string_view url, const std::vector<LogLine>& lines);

}  // namespace support
