#include "proxy/command/streams.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace proxy::command {
namespace {

// Returns 0, or errno.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    if (written < 0 && errno != EINTR) return errno;
  }
  return 0;
}

}  // namespace

Trouble system_trouble(std::string_view place, int error) {
  return {fmt::format("{}: {}", place, std::strerror(error))};
}

void Output::flush() {
  if (error_ == 0) error_ = write_all(descriptor_, waiting_);
  waiting_.clear();
}

Result<void> Output::finish() {
  flush();
  if (error_ == 0 || error_ == EPIPE) return {};
  return system_trouble("cannot write the output", error_);
}

Result<int> print(std::string_view text, const Streams& streams) {
  Output out(streams.out);
  out.write(text);
  if (auto written = out.finish(); !written) return written.error();
  return kDone;
}

void say(int descriptor, std::string_view text) {
  write_all(descriptor, text);
}

}  // namespace proxy::command
