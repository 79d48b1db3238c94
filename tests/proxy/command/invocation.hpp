// `hearsay digest` within the test: its arguments, its streams, what it said.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/command/arguments.hpp"
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
  explicit StreamFile(std::string_view content = {}) : file_(std::tmpfile()) {
    if (file_ == nullptr) throw std::runtime_error("no temporary file");
    if (!content.empty()) std::fwrite(content.data(), 1, content.size(), file_);
    std::rewind(file_);
  }
  StreamFile(const StreamFile&) = delete;
  StreamFile& operator=(const StreamFile&) = delete;
  ~StreamFile() { std::fclose(file_); }

  int descriptor() const { return ::fileno(file_); }
  std::string content() const {
    std::string text(static_cast<std::size_t>(::lseek(descriptor(), 0, SEEK_END)), '\0');
    const ssize_t count = ::pread(descriptor(), text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(count < 0 ? 0 : count));
    return text;
  }

 private:
  std::FILE* file_;
};

// Throws CLI::ParseError as main() would see it.
inline int run_digest_on(const std::vector<std::string>& arguments, const Streams& streams) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App program("hearsay");
  const auto digest = add_digest(program);
  std::vector<std::string> reversed{arguments.rbegin(), arguments.rend()};
  reversed.emplace_back("digest");
  program.parse(reversed);
  return digest(streams);
}

inline Said run_digest(const std::vector<std::string>& arguments, std::string_view input = {}) {
  const StreamFile in(input);
  const StreamFile out;
  const StreamFile err;
  const int code = run_digest_on(arguments, {in.descriptor(), out.descriptor(), err.descriptor()});
  return {code, out.content(), err.content()};
}

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
