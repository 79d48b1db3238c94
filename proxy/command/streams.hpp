// Where a subcommand reads and writes, and how it says that something went wrong.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace proxy::command {

// What went wrong, where, and what to do: for the person at the terminal.
struct Trouble {
  std::string text;
};

template <class T>
using Result = boost::system::result<T, Trouble>;

// "PLACE: what the system says about errno".
Trouble system_trouble(std::string_view place, int error);

// What every subcommand exits with.
inline constexpr int kDone = 0;
inline constexpr int kNone = 1;     // query, show, drop: there is none of what was asked for
inline constexpr int kDamaged = 1;  // verify
inline constexpr int kFailed = 2;
inline constexpr int kSignalled = 128;  // dedup: and the signal that ended it

// Descriptors, which stay the caller's. SIGPIPE must be ignored.
struct Streams {
  int in = 0;
  int out = 1;
  int err = 2;
};

// Lines on their way to a descriptor, gathered so that one costs no system call. Nobody reads them
// any more: that is no error, and done() says that there is no reason to go on. Any other refusal,
// a full disk for one, is kept for finish().
class Output {
 public:
  explicit Output(int descriptor) : descriptor_(descriptor) { waiting_.reserve(2 * kAtOnce); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view text) {
    waiting_.append(text);
    if (waiting_.size() >= kAtOnce) flush();
  }
  // The text and a line feed.
  void line(std::string_view text) {
    waiting_.append(text);
    write("\n");
  }
  void flush();

  // Further output would go nowhere.
  bool done() const { return error_ != 0; }
  // Flushes; an error if anything was lost for another reason than that nobody wants it.
  Result<void> finish();

 private:
  static constexpr std::size_t kAtOnce = std::size_t{64} << 10;

  int descriptor_;
  int error_ = 0;  // errno of the first write that failed
  std::string waiting_;
};

// At once, and whether or not it succeeds: for what is said beside the work.
void say(int descriptor, std::string_view text);

}  // namespace proxy::command
