#include "proxy/command/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace proxy::command {
namespace {

constexpr std::chrono::seconds kSilence{1};
constexpr std::chrono::milliseconds kInterval{200};

}  // namespace

std::string progress_text(std::string_view name, std::uint64_t bytes, std::uint64_t expected,
                          std::uint64_t lines, std::chrono::duration<double> passed) {
  std::string text = fmt::format("{}:", name);
  if (expected > 0) {
    const double part = static_cast<double>(bytes) / static_cast<double>(expected);
    text += fmt::format(" {:.0f} %", 100 * std::min(part, 1.0));
    if (lines == 0) return text;
    text += ',';
  }
  const double count = static_cast<double>(lines);
  const double speed = passed.count() > 0 ? count / passed.count() : 0;
  return text + fmt::format(" {:.1f} M lines, {:.1f} M/s", count / 1e6, speed / 1e6);
}

Progress::Progress(const Streams& streams, Printing printing)
    : err_(streams.err),
      watched_(::isatty(streams.err) == 1 &&
               (printing == Printing::nothing || ::isatty(streams.out) == 0)) {}

Progress::~Progress() {
  clear();
}

void Progress::clear() {
  if (std::exchange(shown_, false)) say(err_, "\r\x1b[K");
}

void Progress::begin(std::string name, std::uint64_t expected) {
  name_ = std::move(name);
  expected_ = expected;
  begun_ = Clock::now();
  next_ = std::max(next_, begun_ + (shown_ ? kInterval : kSilence));
}

void Progress::show(std::uint64_t bytes, std::uint64_t lines) {
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  shown_ = true;
  say(err_, "\r" + progress_text(name_, bytes, expected_, lines, now - begun_) + "\x1b[K");
}

}  // namespace proxy::command
