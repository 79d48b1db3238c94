// How far a long run has come, for who watches it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "proxy/command/streams.hpp"

namespace proxy::command {

// What the work writes to stdout while it goes on: its lines, or nothing before the end.
enum class Printing : std::uint8_t { nothing, lines };

// Writes one line that it keeps changing, and takes away at the end. Silent during the first
// second, where stderr is not a terminal, and where lines are printed to one: they would mix.
class Progress {
 public:
  explicit Progress(const Streams& streams, Printing printing = Printing::nothing);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // What is being done from now on; `expected` bytes or other steps of it, 0 if nobody knows.
  void stage(std::string name, std::uint64_t expected);
  // It has come so far.
  void at(std::uint64_t bytes, std::uint64_t lines) {
    if (watched_) show(bytes, lines);
  }
  // Takes the line away, before anything else is written.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  void show(std::uint64_t bytes, std::uint64_t lines);

  const int err_;
  const bool watched_;
  std::string name_;
  std::uint64_t expected_ = 0;
  Clock::time_point begun_;
  Clock::time_point next_;
  bool shown_ = false;
};

// The line itself: "counting FILE: 45 %, 12.3 M lines, 4.1 M/s"; "uniting 9 digests: 45 %" if there
// are no lines.
std::string progress_text(std::string_view name, std::uint64_t bytes, std::uint64_t expected,
                          std::uint64_t lines, std::chrono::duration<double> passed);

}  // namespace proxy::command
