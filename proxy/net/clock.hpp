// Wall time for rules and logs. It never steps back, even if the system's clock does.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace proxy {

// Any thread. Costs one vDSO call. Two threads may differ by a millisecond.
class WallClock {
 public:
  using Time = std::chrono::system_clock::time_point;

  [[nodiscard]] Time now() {
    const auto read = std::chrono::system_clock::now().time_since_epoch().count();
    auto last = latest_.load(std::memory_order_relaxed);
    // Stored only once per millisecond, so threads rarely write a value that all of them read.
    while (read > last + kStep &&
           !latest_.compare_exchange_weak(last, read, std::memory_order_relaxed)) {
    }
    return Time(Time::duration(read > last ? read : last));
  }

 private:
  static constexpr std::int64_t kStep =
      std::chrono::duration_cast<Time::duration>(std::chrono::milliseconds(1)).count();
  std::atomic<std::int64_t> latest_{0};
};

inline std::chrono::sys_seconds whole_seconds(WallClock::Time time) {
  return std::chrono::floor<std::chrono::seconds>(time);
}

}  // namespace proxy
