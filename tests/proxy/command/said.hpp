// The output of a subcommand, and files for its streams.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

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

// A file without a name, as one of the streams.
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

inline Json json_of(const Said& said) {
  EXPECT_EQ(said.code, 0) << said.err;
  return Json::parse(said.out.empty() ? said.err : said.out);
}

inline std::size_t lines_in(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace proxy::command
