// How the blocks that somebody reads from runs come. Pure.
#pragma once

#include <chrono>

namespace proxy {

class Pace {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // A block that takes longer than this comes over a connection that is slower than a LAN is: 8
  // MiB/s.
  static constexpr std::chrono::milliseconds kSlow{120};

  // One block was read, of which so much was spent waiting for its bytes.
  void note(Duration elapsed, Duration waited) {
    starved_ = waited > elapsed / 2;
    slow_in_a_row_ = starved_ && elapsed >= kSlow ? slow_in_a_row_ + 1 : 0;
  }

  // The reader would take more than comes.
  [[nodiscard]] bool starved() const { return starved_; }
  // It is worth to give up a connection for that. Not by the first block: a connection begins
  // slowly.
  [[nodiscard]] bool slow() const { return slow_in_a_row_ >= 2; }

 private:
  bool starved_ = false;
  int slow_in_a_row_ = 0;
};

}  // namespace proxy
