#include "proxy/command/streams.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <new>
#include <stdexcept>
#include <utility>

#include "config/counted.hpp"

namespace proxy::command {
namespace {

constexpr std::chrono::seconds kSilence{1};
constexpr std::chrono::milliseconds kInterval{200};

}  // namespace

Trouble system_trouble(std::string_view place, int error) {
  return {fmt::format("{}: {}", place, std::strerror(error))};
}

void Output::flush() {
  if (error_ == 0) error_ = say(descriptor_, waiting_);
  // Also after an error: what nobody can be given must not pile up.
  waiting_.clear();
}

Result<void> Output::finish() {
  flush();
  // Whoever closes a pipe has read enough, as `head` does: that is no failure of ours.
  if (error_ == 0 || error_ == EPIPE) return {};
  return system_trouble("cannot write the output", error_);
}

Result<int> print(std::string_view text, const Streams& streams) {
  Output out(streams.out);
  out.write(text);
  if (auto written = out.finish(); !written) return written.error();
  return kDone;
}

int say(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    if (written < 0 && errno != EINTR) return errno;
  }
  return 0;
}

int run_subcommand(const Work& work, std::string_view name, std::string_view remedy,
                   const Streams& streams) {
  std::string why;
  // An exception must not end the program with an exit code that says something about the work.
  try {
    const auto done = work(streams);
    if (done) return *done;
    why = done.error().text;
  } catch (const std::bad_alloc&) {
    why = fmt::format("not enough memory; {}", remedy);
  } catch (const std::length_error&) {
    why = fmt::format("not enough memory; {}", remedy);
  } catch (const std::exception& error) {
    why = fmt::format("broke off: {}; please report this", error.what());
  }
  say(streams.err, fmt::format("hearsay {}: {}\n", name, why));
  return kFailed;
}

std::string escaped(std::string_view text, std::size_t most) {
  std::string out;
  const auto kept = text.substr(0, most);
  out.reserve(kept.size());
  for (const char c : kept) {
    // The backslash, too, so that no foreign text can look like one of our escapes.
    if (c >= ' ' && c <= '~' && c != '\\') {
      out += c;
    } else {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  if (text.size() > most)
    out += fmt::format("... and {} more", config::counted(text.size() - most, "byte"));
  return out;
}

std::string short_time(std::chrono::seconds time) {
  const auto count = std::max<std::int64_t>(time.count(), 0);
  if (count < 60) return fmt::format("{}s", count);
  if (count < 3600) return fmt::format("{}m", count / 60);
  if (count < 86'400) return fmt::format("{}h", count / 3600);
  return fmt::format("{}d", count / 86'400);
}

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

// On one terminal with the output, lines of progress would be mixed with it.
Progress::Progress(const Streams& streams, Printing printing)
    : err_(streams.err),
      watched_(::isatty(streams.err) == 1 &&
               (printing == Printing::nothing || ::isatty(streams.out) == 0)) {}

Progress::~Progress() {
  clear();
}

void Progress::clear() {
  // ECMA-48: to the begin of the line, then erase to its end.
  if (std::exchange(shown_, false)) say(err_, "\r\x1b[K");
}

void Progress::begin(std::string name, std::uint64_t expected) {
  name_ = std::move(name);
  expected_ = expected;
  // Work that ends within a second is over before anybody has read a line about it.
  begun_ = Clock::now();
  next_ = std::max(next_, begun_ + (shown_ ? kInterval : kSilence));
}

void Progress::write(const std::function<std::string(Clock::duration)>& words) {
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  shown_ = true;
  // What a longer line before has left is erased after writing, not before: that would flicker.
  say(err_, "\r" + words(now - begun_) + "\x1b[K");
}

void Progress::show(std::uint64_t bytes, std::uint64_t lines) {
  write([&](Clock::duration passed) {
    return progress_text(name_, bytes, expected_, lines, passed);
  });
}

}  // namespace proxy::command
