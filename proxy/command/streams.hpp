// A subcommand's standard streams, exit codes, errors and progress, and text for a terminal.
#pragma once

#include <boost/core/noncopyable.hpp>
#include <boost/system/result.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace proxy::command {

// A text for the person at the terminal: what went wrong, where, and what to do about it.
struct Trouble {
  std::string text;
};

template <class T>
using Result = boost::system::result<T, Trouble>;

// "PLACE: the system's text for errno".
Trouble system_trouble(std::string_view place, int error);

// The exit codes of every subcommand.
inline constexpr int kDone = 0;
inline constexpr int kNone = 1;     // query, show, drop: nothing matched
inline constexpr int kDamaged = 1;  // verify: a place is damaged
inline constexpr int kFailed = 2;
inline constexpr int kSignalled = 128;  // dedup: plus the number of the signal that ended it

// Descriptors; the caller keeps them open and closes them. SIGPIPE must be ignored.
struct Streams {
  int in = 0;
  int out = 1;
  int err = 2;
};

// Buffers text for a descriptor, so that not every line costs a system call. A closed pipe, as in
// `hearsay ... | head`, is no error, but closed() then tells the caller to stop. Any other error,
// such as a full disk, also closes the output, and finish() returns it.
class Output : boost::noncopyable {
 public:
  explicit Output(int descriptor) : descriptor_(descriptor) { waiting_.reserve(2 * kAtOnce); }

  void write(std::string_view text) {
    waiting_.append(text);
    if (waiting_.size() >= kAtOnce) flush();
  }
  // Writes the text and a line feed.
  void line(std::string_view text) {
    waiting_.append(text);
    write("\n");
  }
  void flush();

  // Whether a write has failed: further output is lost.
  bool closed() const { return error_ != 0; }
  // Flushes. Returns trouble if output was lost, other than to a closed pipe.
  Result<void> finish();

 private:
  static constexpr std::size_t kAtOnce = std::size_t{64} << 10;

  int descriptor_;
  int error_ = 0;  // errno of the first write that failed
  std::string waiting_;
};

// Writes all of a subcommand's output at once. Returns kDone, or trouble as Output::finish() does.
Result<int> print(std::string_view text, const Streams& streams);

// Writes the text at once. Returns 0, or errno, which messages on stderr ignore.
int say(int descriptor, std::string_view text);

// The work of a subcommand. Returns the exit code, or the trouble that ended it.
using Work = std::function<Result<int>(const Streams&)>;

// Runs `work` and returns its exit code. On trouble, or if the work throws anything, writes one
// line to `err` that begins with "hearsay NAME: ", and returns kFailed. `remedy` advises what to do
// if memory ran out. Throws nothing.
int run_subcommand(const Work& work, std::string_view name, std::string_view remedy,
                   const Streams& streams);

// Keeps printable ASCII except the backslash; writes every other byte as "\xNN", so that a terminal
// executes none and none forges a line. Of a text longer than `most` bytes, returns that many, and
// the number of bytes left out.
std::string escaped(std::string_view text, std::size_t most = std::size_t{8} << 10);

// "57m": in the largest of s, m, h and d in which the time is at least 1, rounded down; "0s" for a
// negative time.
std::string short_time(std::chrono::seconds time);

// The output of the work to stdout while it runs: lines, or nothing before the end.
enum class Printing : std::uint8_t { nothing, lines };

// Writes one line to stderr, rewrites it as the work proceeds, and erases it at the end. Writes
// nothing during the first second of a stage, nothing if stderr is no terminal, and nothing if the
// work prints lines to a terminal: they would mix.
class Progress : boost::noncopyable {
 public:
  explicit Progress(const Streams& streams, Printing printing = Printing::nothing);
  ~Progress();

  // Begins a stage of `expected` bytes or other steps, 0 if the number is unknown.
  void begin(std::string name, std::uint64_t expected);
  // The stage has processed so many of the expected bytes or steps, and so many lines.
  void update(std::uint64_t bytes, std::uint64_t lines) {
    if (watched_) show(bytes, lines);
  }
  // Shows progress as update() does, in the caller's words.
  void tell(const std::string& words) {
    if (watched_) write([&](Clock::duration) { return words; });
  }
  // Erases the line. Call this before anything else is written.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  void show(std::uint64_t bytes, std::uint64_t lines);
  // If it is time for a line. `words` makes it, given how long the stage has lasted.
  void write(const std::function<std::string(Clock::duration)>& words);

  const int err_;
  const bool watched_;
  std::string name_;
  std::uint64_t expected_ = 0;
  Clock::time_point begun_;
  Clock::time_point next_;
  bool shown_ = false;
};

// A line of progress: "counting FILE: 45 %, 12.3 M lines, 4.1 M/s"; without lines "uniting 9
// digests: 45 %".
std::string progress_text(std::string_view name, std::uint64_t bytes, std::uint64_t expected,
                          std::uint64_t lines, std::chrono::duration<double> passed);

}  // namespace proxy::command
