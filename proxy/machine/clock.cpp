#include "proxy/machine/clock.hpp"

#include <algorithm>
#include <utility>

namespace proxy::machine {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::int64_t kMillisecond = nanoseconds(milliseconds(1)).count();

}  // namespace

// The thread may be kept waiting between two readings, so steady time is read around the others.
Clock::Reading Clock::read_all() {
  constexpr int kTries = 100;
  for (int tried = 1;; ++tried) {
    const auto before = read(CLOCK_MONOTONIC);
    const auto wall = read(CLOCK_REALTIME);
    const auto since_start = read(CLOCK_BOOTTIME);
    const auto after = read(CLOCK_MONOTONIC);
    if (after - before <= kMillisecond || tried == kTries)
      return {wall - after, since_start - after};
  }
}

Clock::Clock() {
  const auto reading = read_all();
  apart_ = offset_ = reading.apart;
  slept_ = reading.slept;
  started_ = now();
}

Clock::Clock(Time stands_at) : started_(stands_at) {
  stands_.emplace(nanoseconds(kStandsFrom).count());
}

// If the machine has slept, wall time and now() are both ahead by what steady time lacks. The rest
// is a step.
void Clock::apply_step() {
  const threads::MutexLock lock(mutex_);
  const auto reading = read_all();
  const auto moved = reading.apart - apart_;
  if (moved <= kTolerated && moved >= -kTolerated) return;  // another thread has followed
  const auto slept = std::max<std::int64_t>(reading.slept - slept_, 0);
  slept_ += slept;
  offset_ += slept;
  apart_ = reading.apart;
  const auto now_ahead = milliseconds((reading.apart - offset_) / kMillisecond);
  const auto by = now_ahead - ahead();
  ahead_ = now_ahead.count();
  if (by < kSaid && by > -kSaid) return;
  const ClockStep step{by, Time(from_nanoseconds(read(CLOCK_MONOTONIC_COARSE) + offset_))};
  if (steps_.size() == kMostSteps) steps_.pop_back();
  steps_.push_back(step);
  last_ = step;
}

std::vector<ClockStep> Clock::take_steps() {
  const threads::MutexLock lock(mutex_);
  return std::exchange(steps_, {});
}

std::optional<ClockStep> Clock::doubt() {
  const auto time = now();
  const threads::MutexLock lock(mutex_);
  const bool is_undone = ahead() < kSaid && ahead() > -kSaid;
  if (!last_ || is_undone || time - last_->seen > kDoubtful) return std::nullopt;
  return last_;
}

}  // namespace proxy::machine
