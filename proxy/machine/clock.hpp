// The clock of the process: the steady time that waits and rules count in, and the time for logs,
// which is steady time that began as wall time.
#pragma once

#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "peers/threads/mutex.hpp"

namespace proxy::machine {

// A change of the system's wall time that is not the passing of time.
struct ClockStep {
  std::chrono::milliseconds by;                // negative: the clock was set back
  std::chrono::system_clock::time_point seen;  // in the time of Clock::now()
};

// now() begins as wall time and runs on the steady clock, including the time that the machine
// sleeps, whatever happens to wall time. Ages, lifetimes and the order of events follow it. What is
// shown to others, or is compared with what others show, takes shown().
//
// Any thread. The time is that of the kernel's last tick, which was 10 ms ago at most, or a little
// more on a busy machine. Rules count seconds, and a finer clock costs ten times as much to read.
class Clock {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;
  using Time = std::chrono::system_clock::time_point;
  // A step of wall time is followed if it is larger than kFollowed, and is an event from kSaid on.
  // Smaller steps add up until they are followed.
  static constexpr std::chrono::milliseconds kFollowed{100};
  static constexpr std::chrono::milliseconds kSaid{1000};
  // How long ages are doubtful after a step. Most responses that were stored before it are renewed
  // by then.
  static constexpr std::chrono::minutes kDoubtful{10};

  Clock();
  // A clock that stands at this time until pass() is called: for tests and simulations. Its steady
  // time begins an hour after its epoch.
  explicit Clock(Time stands_at);
  // Lets time pass on a clock that stands.
  void pass(std::chrono::nanoseconds time) { *stands_ += time.count(); }

  // Steady time to the nanosecond, for waits and for what is measured. The machine's sleep does not
  // count.
  [[nodiscard]] SteadyTime steady() const {
    if (stands_) [[unlikely]]
      return SteadyTime(std::chrono::nanoseconds(*stands_));
    return std::chrono::steady_clock::now();
  }

  // now() at the start.
  [[nodiscard]] Time started() const { return started_; }

  // Never steps back.
  [[nodiscard]] [[gnu::always_inline]] Time now() {
    if (stands_) [[unlikely]]
      return started_ + from_nanoseconds(*stands_) - kStandsFrom;
    const auto steady = read(CLOCK_MONOTONIC_COARSE);
    const auto apart = read(CLOCK_REALTIME_COARSE) - steady;
    const auto known = apart_.load(std::memory_order_relaxed);
    if (apart - known > kTolerated || known - apart > kTolerated) apply_step();
    return Time(from_nanoseconds(steady + offset_.load(std::memory_order_relaxed)));
  }

  // How far wall time is ahead of now(): 0 unless it has stepped since the start.
  [[nodiscard]] std::chrono::milliseconds ahead() const {
    return std::chrono::milliseconds(ahead_.load(std::memory_order_relaxed));
  }
  // Wall time.
  [[nodiscard]] Time shown() { return shown(now()); }
  // The wall time at which now() is `at`, if the clock of the system is right now.
  [[nodiscard]] Time shown(Time at) const { return at + ahead(); }

  // The steps since the last call, at most kMostSteps of them, and the newest in any case.
  std::vector<ClockStep> take_steps();
  static constexpr std::size_t kMostSteps = 8;
  // The last step, if it was at most kDoubtful ago and was not undone since.
  [[nodiscard]] std::optional<ClockStep> doubt();

 private:
  static constexpr std::chrono::hours kStandsFrom{1};
  static constexpr std::int64_t kTolerated = std::chrono::nanoseconds(kFollowed).count();

  static std::int64_t read(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
  }
  static Time::duration from_nanoseconds(std::int64_t time) {
    return std::chrono::duration_cast<Time::duration>(std::chrono::nanoseconds(time));
  }

  // The clocks of the system, read at once.
  struct Reading {
    std::int64_t apart;  // wall time less steady time
    std::int64_t slept;  // what steady time lacks of the time since the machine was started
  };
  static Reading read_all();
  void apply_step();

  std::optional<std::atomic<std::int64_t>> stands_;  // ns: the steady time; empty: it runs
  std::atomic<std::int64_t> apart_{0};               // ns: Reading::apart that is known
  std::atomic<std::int64_t> offset_{0};              // ns: now() less steady time
  std::atomic<std::int64_t> ahead_{0};               // ms
  Time started_;
  threads::Mutex mutex_{threads::Place::last};  // rules ask for the time under any lock
  std::int64_t slept_ GUARDED_BY(mutex_) = 0;
  std::vector<ClockStep> steps_ GUARDED_BY(mutex_);
  std::optional<ClockStep> last_ GUARDED_BY(mutex_);
};

inline std::chrono::sys_seconds whole_seconds(Clock::Time time) {
  return std::chrono::floor<std::chrono::seconds>(time);
}

}  // namespace proxy::machine
