// Shows on a terminal how far a long run has come.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "proxy/command/streams.hpp"

namespace proxy::command {

// The output of the work to stdout while it runs: lines, or nothing before the end.
enum class Printing : std::uint8_t { nothing, lines };

// Writes one line to stderr, rewrites it as the work proceeds, and erases it at the end. Writes
// nothing during the first second of a stage, nothing if stderr is no terminal, and nothing if the
// work prints lines to a terminal: they would mix.
class Progress {
 public:
  explicit Progress(const Streams& streams, Printing printing = Printing::nothing);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // Begins a stage of `expected` bytes or other steps, 0 if the number is unknown.
  void begin(std::string name, std::uint64_t expected);
  // The stage has processed so many of the expected bytes or steps, and so many lines.
  void update(std::uint64_t bytes, std::uint64_t lines) {
    if (watched_) show(bytes, lines);
  }
  // Erases the line. Call this before anything else is written.
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

// The text of the line: "counting FILE: 45 %, 12.3 M lines, 4.1 M/s"; without lines "uniting 9
// digests: 45 %".
std::string progress_text(std::string_view name, std::uint64_t bytes, std::uint64_t expected,
                          std::uint64_t lines, std::chrono::duration<double> passed);

}  // namespace proxy::command
