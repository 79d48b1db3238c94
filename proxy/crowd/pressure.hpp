// How short the memory is in which bodies pass through the proxy unstored. Pure.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "proxy/cache/budget.hpp"

namespace proxy::crowd {

// Each step makes bodies on their way take less memory, and lets Relief cut more of them.
enum class Pressure : std::uint8_t {
  none,
  scarce,    // above the limit
  critical,  // above one and a half times the limit
  full,      // above twice the limit: no further body is let in
};

inline Pressure pressure_on(const cache::Budget& transit) {
  const auto used = transit.used();
  if (used <= transit.limit()) return Pressure::none;
  if (used > 2 * transit.limit()) return Pressure::full;
  return used > transit.limit() / 2 * 3 ? Pressure::critical : Pressure::scarce;
}

// How many bytes of a body the proxy reads ahead of the body's slowest reader.
constexpr std::uint64_t window_at(Pressure pressure) {
  if (pressure == Pressure::none) return 1 << 20;
  return pressure == Pressure::scarce ? 64 * 1024 : 8 * 1024;
}

// The most bytes of a block of such a body.
constexpr std::uint32_t block_at(Pressure pressure) {
  if (pressure == Pressure::none) return 64 * 1024;
  return pressure == Pressure::scarce ? 8 * 1024 : 4 * 1024;
}

// The last time at which something happened. Any thread.
class LastTime {
 public:
  using Clock = std::chrono::steady_clock;

  void record(Clock::time_point now) {
    at_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  }
  // Whether it happened at most `past` before `now`.
  [[nodiscard]] bool within(Clock::duration past, Clock::time_point now) const {
    const auto at = at_.load(std::memory_order_relaxed);
    return at != kNever && now - Clock::time_point(Clock::duration(at)) <= past;
  }
  // When it happened last, if it has.
  [[nodiscard]] Clock::time_point last() const {
    return Clock::time_point(Clock::duration(at_.load(std::memory_order_relaxed)));
  }

 private:
  static constexpr Clock::rep kNever = Clock::duration::min().count();
  std::atomic<Clock::rep> at_{kNever};
};

}  // namespace proxy::crowd
