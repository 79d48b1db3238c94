// `hearsay digest` within the test: its arguments, its streams, what it said.
#pragma once

#include <gtest/gtest.h>

#include <CLI/Error.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/command/streams.hpp"
#include "tests/support/temporary_directory.hpp"

namespace proxy::command {

using Json = nlohmann::json;
using support::read_file;
using support::TemporaryDirectory;
using support::write_file;

struct Said {
  int code = 0;
  std::string out;
  std::string err;
};

// A file that nobody else knows, as one of the streams.
class StreamFile {
 public:
  explicit StreamFile(std::string_view content = {});
  StreamFile(const StreamFile&) = delete;
  StreamFile& operator=(const StreamFile&) = delete;
  ~StreamFile();

  int descriptor() const;
  std::string content() const;

 private:
  std::FILE* file_;
};

// Throws CLI::ParseError as main() would see it.
int run_digest_on(const std::vector<std::string>& arguments, const Streams& streams);

Said run_digest(const std::vector<std::string>& arguments, std::string_view input = {});

inline Json json_of(const Said& said) {
  EXPECT_EQ(said.code, 0) << said.err;
  return Json::parse(said.out.empty() ? said.err : said.out);
}

// "http://example.com/PREFIX0" and so on, a line each.
inline std::string numbered_urls(std::string_view prefix, int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) {
    ((lines += "http://example.com/") += prefix) += std::to_string(i) + '\n';
  }
  return lines;
}

inline std::size_t lines_in(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace proxy::command
