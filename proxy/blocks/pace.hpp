// How fast one client gets its blocks from runs. Pure.
#pragma once

#include <chrono>

namespace proxy {

class Pace {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // A block that takes longer arrives at less than 8 MiB/s: then a second connection is worth its
  // cost.
  static constexpr std::chrono::milliseconds kSlow{120};

  // One block was read, in `elapsed`, of which `waited` was spent waiting for its bytes.
  void note(Duration elapsed, Duration waited) {
    starved_ = waited > elapsed / 2;
    slow_in_a_row_ = starved_ && elapsed >= kSlow ? slow_in_a_row_ + 1 : 0;
  }

  // The client takes bytes faster than they arrive.
  [[nodiscard]] bool starved() const { return starved_; }
  // The last two blocks were slow. One slow block does not count, because a connection begins
  // slowly.
  [[nodiscard]] bool slow() const { return slow_in_a_row_ >= 2; }

 private:
  bool starved_ = false;
  int slow_in_a_row_ = 0;
};

}  // namespace proxy
