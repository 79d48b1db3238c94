#include "tests/proxy/command/invocation.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <stdexcept>

#include "proxy/command/arguments.hpp"

namespace proxy::command {

StreamFile::StreamFile(std::string_view content) : file_(std::tmpfile()) {
  if (file_ == nullptr) throw std::runtime_error("no temporary file");
  if (!content.empty()) std::fwrite(content.data(), 1, content.size(), file_);
  std::rewind(file_);
}

StreamFile::~StreamFile() {
  std::fclose(file_);
}

int StreamFile::descriptor() const {
  return ::fileno(file_);
}

std::string StreamFile::content() const {
  std::string text(static_cast<std::size_t>(::lseek(descriptor(), 0, SEEK_END)), '\0');
  const ssize_t count = ::pread(descriptor(), text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(count < 0 ? 0 : count));
  return text;
}

int run_digest_on(const std::vector<std::string>& arguments, const Streams& streams) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App program("hearsay");
  const auto digest = add_digest(program);
  std::vector<std::string> reversed{arguments.rbegin(), arguments.rend()};
  reversed.emplace_back("digest");
  program.parse(reversed);
  return digest(streams);
}

Said run_digest(const std::vector<std::string>& arguments, std::string_view input) {
  const StreamFile in(input);
  const StreamFile out;
  const StreamFile err;
  const int code = run_digest_on(arguments, {in.descriptor(), out.descriptor(), err.descriptor()});
  return {code, out.content(), err.content()};
}

}  // namespace proxy::command
