// Coarse time-outs for many connections: one timer per thread instead of one per operation.
#pragma once

#include <array>
#include <boost/core/noncopyable.hpp>
#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "proxy/machine/clock.hpp"
#include "proxy/net/asio.hpp"

namespace proxy::net {

class Deadlines;

// An object with a deadline. Its user owns it; the destructor removes it from the list. Use it on
// the thread of its Deadlines.
class Watched : public boost::intrusive::list_base_hook<
                    boost::intrusive::link_mode<boost::intrusive::auto_unlink>>,
                boost::noncopyable {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Watched(Deadlines& deadlines) : deadlines_(deadlines) {}
  virtual ~Watched() = default;

  // Replaces the deadline. on_expiry() runs once after the deadline has passed: never early as long
  // as the thread ticks in time, and up to about two ticks (128 ms) late.
  void expires_after(Clock::duration after);
  void expires_never() { unlink(); }

 protected:
  virtual void on_expiry() = 0;
  [[nodiscard]] Clock::time_point now() const;  // see Deadlines::now()

 private:
  friend class Deadlines;
  Deadlines& deadlines_;
  Clock::time_point deadline_;
  std::uint64_t slot_tick_ = 0;
};

// A lazy hashed timing wheel (Varghese and Lauck 1987). Moving a deadline later only stores the new
// time, which the wheel reads when it reaches the old slot. Setting a deadline costs a few loads
// and stores.
//
// While few ask for the time, the wheel rests: the thread wakes only for slots that have deadlines,
// and now() reads the clock. Each tick of an idle thread would cost it a wake-up.
class Deadlines : boost::noncopyable {
 public:
  using Clock = Watched::Clock;
  static constexpr std::chrono::milliseconds kTick{64};

  // `clock`: null for real time. Tests and simulations give a clock that stands still, which
  // outlives this object, and call tick() in place of start().
  explicit Deadlines(Executor executor, const machine::Clock* clock = nullptr);

  void start();  // begins to tick on the executor's thread
  void tick();   // ends what has passed by now

  // The time of the last tick, which costs nothing and is at most a tick old. While the wheel
  // rests, reads the clock.
  [[nodiscard]] Clock::time_point now() {
    ++asked_;
    return rests_ ? read_at_rest() : now_;
  }

 private:
  friend class Watched;
  // 65 s. If the wheel reaches the slot of a later deadline too early, it moves the deadline to a
  // new slot.
  static constexpr std::size_t kSlots = 1024;
  // The wheel rests after a tick since which it was asked for the time less often than this.
  static constexpr std::size_t kFew = 64;
  // The most ticks that pass without a look at the wheel: a thread that wakes each 4 s is idle.
  static constexpr std::uint64_t kLongestRest = 64;
  using List = boost::intrusive::list<Watched, boost::intrusive::constant_time_size<false>>;

  [[nodiscard]] std::uint64_t tick_of(Clock::time_point time) const;
  [[nodiscard]] Clock::time_point read() const { return clock_ ? clock_->steady() : Clock::now(); }
  Clock::time_point read_at_rest();
  void arm(std::uint64_t tick);
  void arm_for_next();
  void place(Watched& watched);
  void visit(List& due);

  Timer timer_;
  const machine::Clock* const clock_;
  const Clock::time_point epoch_;
  Clock::time_point now_;
  std::uint64_t current_tick_ = 0;
  std::uint64_t armed_for_ = 0;  // the tick for which the timer is set; 0: start() was not called
  std::size_t asked_ = 0;        // for the time, since the last tick
  bool rests_ = false;
  std::array<List, kSlots> slots_;
};

// Belongs to one thread, that of its executor. Once it is destroyed, nothing is called any more.
class ExactDeadline : boost::noncopyable {
 public:
  // `on_expiry` is called once after each deadline that has passed.
  ExactDeadline(Executor executor, std::function<void()> on_expiry)
      : state_(std::make_shared<State>(executor, std::move(on_expiry))) {}
  ~ExactDeadline() { state_->timer.cancel(); }

  // Replaces the deadline.
  void expires_after(std::chrono::milliseconds after) {
    state_->timer.expires_after(after);  // cancels the wait before
    state_->expired = false;
    state_->timer.async_wait([weak = std::weak_ptr(state_)](error_code error) {
      const auto state = weak.lock();
      // A wait that was over before it was cancelled finds a later deadline.
      if (error || !state || Clock::now() < state->timer.expiry()) return;
      state->expired = true;
      state->on_expiry();
    });
  }
  void expires_never() { state_->timer.expires_at(Clock::time_point::max()); }
  // Whether the last deadline has passed.
  [[nodiscard]] bool expired() const { return state_->expired; }

 private:
  using Clock = Timer::clock_type;
  struct State {
    State(Executor executor, std::function<void()> call)
        : timer(executor), on_expiry(std::move(call)) {}

    Timer timer;
    const std::function<void()> on_expiry;
    bool expired = false;
  };

  const std::shared_ptr<State> state_;
};

}  // namespace proxy::net
