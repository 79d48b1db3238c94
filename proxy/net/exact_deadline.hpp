// A deadline to the millisecond, for waits that are shorter than a tick of Deadlines.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "proxy/net/asio.hpp"

namespace proxy::net {

// Belongs to one thread, that of its executor. Once it is destroyed, nothing is called any more.
class ExactDeadline {
 public:
  // `on_expiry` is called once after each deadline that has passed.
  ExactDeadline(Executor executor, std::function<void()> on_expiry)
      : state_(std::make_shared<State>(executor, std::move(on_expiry))) {}
  ~ExactDeadline() { state_->timer.cancel(); }
  ExactDeadline(const ExactDeadline&) = delete;
  ExactDeadline& operator=(const ExactDeadline&) = delete;

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
