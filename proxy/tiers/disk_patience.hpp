// How long one response waits for the disk to write its blocks.
#pragma once

#include <atomic>
#include <chrono>

namespace proxy {

// The total is one second, plus the time that the response has taken without such waits: a slow
// disk at most doubles that time, and adds a second. Any thread.
class DiskPatience {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = std::chrono::milliseconds;

  explicit DiskPatience(Clock::time_point begun = Clock::now()) : begun_(begun) {}

  static constexpr Duration kAtOnce{1'000};

  // How long the response may still wait.
  [[nodiscard]] Duration left(Clock::time_point now) const {
    const Duration waited = waited_;
    const auto without = std::chrono::floor<Duration>(now - begun_) - waited;
    return kAtOnce + without - waited;
  }
  // Counts a wait that has ended.
  void note(Duration waited) { waited_ = waited_.load() + waited; }

 private:
  const Clock::time_point begun_;
  std::atomic<Duration> waited_{Duration(0)};
};

}  // namespace proxy
