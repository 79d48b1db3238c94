// Lets one coroutine wait until any thread wakes it.
#pragma once

#include <boost/core/noncopyable.hpp>
#include <chrono>
#include <coroutine>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "proxy/machine/clock.hpp"
#include "proxy/net/asio.hpp"

namespace proxy::net {

// wait() is for the coroutine of the executor, one at a time. A notify() before wait() is
// remembered; several of them before one wait() count once.
class Wakeup : boost::noncopyable {
 public:
  // An io_context destroys its waiting coroutines when it ends. This call, right after the
  // io_context is made, sets the order: coroutines that wait in a Wakeup are destroyed after those
  // that wait for sockets.
  static void prepare(net::asio::io_context& io);
  // For tests and simulations, whose clock stands still between steps. From now on the waits of
  // this io_context end by that clock, and only within look(). Call follow() before the first wait.
  // The clock outlives the waits.
  static void follow(net::asio::io_context& io, const machine::Clock& clock);
  static void look(net::asio::io_context& io);

  explicit Wakeup(net::Executor executor);
  ~Wakeup();

  using Clock = std::chrono::steady_clock;
  enum class Woken { notified, timed_out };
  class Wait;  // for co_await, which results in a Woken
  [[nodiscard]] Wait wait(std::optional<std::chrono::milliseconds> at_most = std::nullopt) const;
  // Clock::time_point::max() means a wait without an end. A wait with an end may leave a timer
  // behind, which keeps io_context::run() from returning for up to 64 ms.
  [[nodiscard]] Wait wait_until(Clock::time_point until) const;

  // Wakes the coroutine that waits. Any thread may call this until the Wakeup is destroyed.
  void notify();
  // Wakes the coroutine within this call, which spares a turn of the io_context and its system
  // call. Only the executor's thread calls this, from a function whose object the coroutine does
  // not destroy.
  void notify_within();
  // The executor of the coroutine that waits. Any thread may call this.
  net::Executor executor() const;

 private:
  class Parked;
  struct State;

  std::shared_ptr<State> state_;  // a notification under way keeps it alive
};

class Wakeup::Wait {
 public:
  Wait(std::shared_ptr<State> state, Clock::time_point until)
      : state_(std::move(state)), until_(until) {}

  [[nodiscard]] bool await_ready();
  template <class Caller>
  void await_suspend(std::coroutine_handle<Caller> caller) {
    park(net::Resume<Woken>(woken_, caller));
  }
  Woken await_resume() const { return woken_ ? std::get<0>(*woken_) : Woken::notified; }

 private:
  void park(net::Resume<Woken> coroutine);

  const std::shared_ptr<State> state_;
  const Clock::time_point until_;
  net::Resume<Woken>::Into woken_;
};

}  // namespace proxy::net
