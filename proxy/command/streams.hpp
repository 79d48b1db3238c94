// A subcommand's standard streams, exit codes and errors.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace proxy::command {

// What went wrong, where, and what to do about it: text for the person at the terminal.
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
class Output {
 public:
  explicit Output(int descriptor) : descriptor_(descriptor) { waiting_.reserve(2 * kAtOnce); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

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

// Writes the text at once and ignores errors: for messages on stderr.
void say(int descriptor, std::string_view text);

}  // namespace proxy::command
