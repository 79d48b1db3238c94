// The time of the writer's thread: how fast it writes, how long it rests, whether it hangs.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "proxy/cache/disk/file.hpp"
#include "proxy/machine/clock.hpp"

namespace proxy::cache::disk {

class WritePace {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // Records one write. The pace is a weighted average: kWindow bytes weigh as much as all earlier
  // writes. A small write that is slow does not count: its time went into a seek, or into waking a
  // thread.
  void record(std::uint64_t bytes, Duration elapsed) {
    const double written = static_cast<double>(bytes);
    const double seconds = std::chrono::duration<double>(elapsed).count();
    const bool slower = seconds * kWindow > seconds_ * written;
    if (slower && bytes < kFew && elapsed < kBriefly) return;
    seconds_ = std::max(kLeastSeconds, (seconds_ + seconds) * kWindow / (kWindow + written));
  }

  // How many bytes the disk writes in this time: nearly unlimited until the first writes are
  // recorded.
  [[nodiscard]] std::uint64_t bytes_in(Duration time) const {
    return static_cast<std::uint64_t>(kWindow * std::chrono::duration<double>(time).count() /
                                      seconds_);
  }

 private:
  static constexpr double kWindow = 4 << 20;
  static constexpr double kLeastSeconds = 1e-6;
  static constexpr std::uint64_t kFew = std::uint64_t{256} << 10;
  static constexpr std::chrono::milliseconds kBriefly{50};

  double seconds_ = kLeastSeconds;  // to write kWindow bytes
};

// Bounds the other work that the writer does between appends, because all appends wait for it: a
// step reads at most `most` records, 256 of them, and begins no read after 100 ms.
class Step {
 public:
  static constexpr std::size_t kEntries = 256;

  explicit Step(const machine::Clock& clock, std::size_t most = kEntries)
      : clock_(clock), until_(clock.steady() + kTime), left_(std::min(most, kEntries)) {}

  // Call this before each read.
  bool goes_on() { return left_-- > 0 && clock_.steady() < until_; }

 private:
  static constexpr std::chrono::milliseconds kTime{100};

  const machine::Clock& clock_;
  const machine::Clock::SteadyTime until_;
  std::size_t left_;
};

// Each rest is twice as long as the one before, up to the longest. For one thread.
class Backoff {
 public:
  using Time = machine::Clock::SteadyTime;

  Backoff(std::chrono::milliseconds first, std::chrono::milliseconds longest)
      : first_(first), longest_(longest), next_(first) {}

  // Begins a rest.
  void rest(Time now) {
    until_ = now + next_;
    next_ = std::min(next_ * 2, longest_);
  }
  // Call this when a write has worked: the next rest is short again.
  void reset() { next_ = first_; }
  // How much longer the writer has to rest. 0 or less: it may try again.
  Time::duration left(Time now) const { return until_ - now; }

 private:
  const std::chrono::milliseconds first_;
  const std::chrono::milliseconds longest_;
  std::chrono::milliseconds next_;
  Time until_{};
};

// The alignment equals the size, so an atomic State needs no lock.
struct alignas(2) State {
  // While false, the disk rests: look-ups still find what the index has, records are refused, and
  // the writer tries again from time to time.
  bool working = false;
  Error reason = Error::resting;  // of the rest
};

// What the writer's thread is doing, as that thread records it. Any thread may ask, without a lock.
class WriterWatch {
 public:
  using Duration = machine::Clock::SteadyTime::duration;

  // The clock outlives the watch.
  WriterWatch(const machine::Clock& clock, std::chrono::milliseconds longest_start)
      : clock_(clock), longest_start_(longest_start) {}

  // The writer's thread calls the next functions. A step ends when the next one begins, or with
  // end_step().
  void begin_start() {
    loaded_ = false;
    begin_step();
  }
  void end_start() {
    loaded_ = true;
    end_step();
  }
  void begin_step() { step_begun_ = clock_.steady().time_since_epoch().count(); }
  void end_step() { step_begun_ = 0; }
  void work() { state_ = State{.working = true}; }
  void rest(Error reason) { state_ = State{.working = false, .reason = reason}; }

  // Any thread may call the next functions. working() is true even while the writer hangs; state()
  // shows that.
  bool working() const { return state_.load().working; }
  // How long the current step has taken so far; 0 while the writer waits for work.
  Duration in_step() const {
    const Duration begun(step_begun_.load());
    if (begun.count() == 0) return {};
    return clock_.steady().time_since_epoch() - begun;
  }
  bool hangs() const { return in_step() >= (loaded_ ? kLongestStep : longest_start_); }
  State state() const {
    const State state = state_.load();
    const bool hanging = (state.working || !loaded_) && hangs();
    return hanging ? State{.working = false, .reason = Error::hangs} : state;
  }

 private:
  static constexpr std::chrono::milliseconds kLongestStep{10'000};  // on a slow disk

  const machine::Clock& clock_;
  const std::chrono::milliseconds longest_start_;
  std::atomic<State> state_{State{}};
  std::atomic<bool> loaded_ = false;           // the start is done
  std::atomic<Duration::rep> step_begun_ = 0;  // 0: the writer waits for work
};

}  // namespace proxy::cache::disk
