// How long the writer rests after a failure.
#pragma once

#include <algorithm>
#include <chrono>

namespace proxy::cache::disk {

// Each rest is twice as long as the one before, up to the longest. For one thread.
class Backoff {
 public:
  using Clock = std::chrono::steady_clock;

  Backoff(std::chrono::milliseconds first, std::chrono::milliseconds longest)
      : first_(first), longest_(longest), next_(first) {}

  // Begins a rest.
  void rest() {
    until_ = Clock::now() + next_;
    next_ = std::min(next_ * 2, longest_);
  }
  // A write worked: the next rest is short again.
  void reset() { next_ = first_; }
  Clock::time_point until() const { return until_; }
  bool is_over() const { return Clock::now() >= until_; }

 private:
  const std::chrono::milliseconds first_;
  const std::chrono::milliseconds longest_;
  std::chrono::milliseconds next_;
  Clock::time_point until_{};
};

}  // namespace proxy::cache::disk
