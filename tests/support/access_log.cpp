#include "tests/support/access_log.hpp"

#include <sstream>
#include <stdexcept>

namespace support {
namespace {

LogLine parse_line(const std::string& text) {
  LogLine line;
  std::istringstream in(text);
  std::string result_and_status;
  std::string hierarchy_and_from;
  in >> line.time >> line.elapsed_ms >> line.client >> result_and_status >> line.bytes >>
      line.method >> line.url >> line.user >> hierarchy_and_from >> line.type;
  const auto first = result_and_status.find('/');
  const auto second = hierarchy_and_from.find('/');
  bool is_line = !in.fail() && first != std::string::npos && second != std::string::npos;
  for (std::string word; in >> word; line.words.push_back(word)) {
    is_line = is_line && (word.starts_with("not-stored/") || word.starts_with("failure/"));
  }
  if (!is_line) throw std::runtime_error("not a line of Squid's access log: " + text);
  line.result = result_and_status.substr(0, first);
  line.status = std::stoi(result_and_status.substr(first + 1));
  line.hierarchy = hierarchy_and_from.substr(0, second);
  line.from = hierarchy_and_from.substr(second + 1);
  return line;
}

}  // namespace

std::vector<LogLine> parse_access_log(std::string_view text) {
  std::vector<LogLine> lines;
  std::istringstream in{std::string(text.substr(0, text.rfind('\n') + 1))};
  for (std::string line; std::getline(in, line);) lines.push_back(parse_line(line));
  return lines;
}

std::vector<LogLine> lines_about(std::string_view url, const std::vector<LogLine>& lines) {
  std::vector<LogLine> matching;
  for (const auto& line : lines) {
    if (line.url == url) matching.push_back(line);
  }
  return matching;
}

}  // namespace support
