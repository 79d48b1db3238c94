// Wall time for rules and logs. It never steps back, even if the system's clock does.
#pragma once

#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace proxy {

// Any thread. The time is that of the kernel's last tick, which was 10 ms ago at most, or a little
// more on a busy machine. Rules count seconds, and a finer clock costs ten times as much to read.
// Two threads may differ by another millisecond.
class WallClock {
 public:
  using Time = std::chrono::system_clock::time_point;

  [[nodiscard]] Time now() {
    const auto read = at_last_tick();
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

  static std::int64_t at_last_tick() {
    timespec read{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &read);
    const auto time = std::chrono::seconds(read.tv_sec) + std::chrono::nanoseconds(read.tv_nsec);
    return std::chrono::duration_cast<Time::duration>(time).count();
  }

  std::atomic<std::int64_t> latest_{0};
};

inline std::chrono::sys_seconds whole_seconds(WallClock::Time time) {
  return std::chrono::floor<std::chrono::seconds>(time);
}

}  // namespace proxy
