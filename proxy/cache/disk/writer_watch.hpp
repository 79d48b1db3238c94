// Whether the writer works, rests or hangs.
#pragma once

#include <atomic>
#include <chrono>

#include "proxy/cache/disk/format/error.hpp"

namespace proxy::cache::disk {

// The alignment equals the size, so an atomic State needs no lock.
struct alignas(2) State {
  // While false, the disk rests: look-ups still find what the index has, records are refused, and
  // the writer tries again from time to time.
  bool working = false;
  Error reason = Error::resting;  // of the rest
};

// The writer's thread notes its activity. Any thread may ask, without a lock.
class WriterWatch {
 public:
  using Clock = std::chrono::steady_clock;

  explicit WriterWatch(std::chrono::milliseconds longest_start) : longest_start_(longest_start) {}

  // For the writer's thread. A step ends when the next one begins, or with end_step().
  void begin_start() {
    loaded_ = false;
    begin_step();
  }
  void end_start() {
    loaded_ = true;
    end_step();
  }
  void begin_step() { step_begun_ = Clock::now().time_since_epoch().count(); }
  void end_step() { step_begun_ = 0; }
  void work() { state_ = State{.working = true}; }
  void rest(Error reason) { state_ = State{.working = false, .reason = reason}; }

  // For any thread. working() is also true while the writer hangs; state() is not.
  bool working() const { return state_.load().working; }
  // How long the current step has taken so far; 0 while the writer waits for work.
  Clock::duration in_step() const {
    const Clock::duration begun(step_begun_.load());
    if (begun.count() == 0) return {};
    return Clock::now().time_since_epoch() - begun;
  }
  bool hangs() const { return in_step() >= (loaded_ ? kLongestStep : longest_start_); }
  State state() const {
    const State state = state_.load();
    const bool hanging = (state.working || !loaded_) && hangs();
    return hanging ? State{.working = false, .reason = Error::hangs} : state;
  }

 private:
  static constexpr std::chrono::milliseconds kLongestStep{10'000};  // on a slow disk

  const std::chrono::milliseconds longest_start_;
  std::atomic<State> state_{State{}};
  std::atomic<bool> loaded_ = false;        // the start is done
  std::atomic<Clock::rep> step_begun_ = 0;  // 0: the writer waits for work
};

}  // namespace proxy::cache::disk
