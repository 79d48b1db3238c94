// Lets one coroutine wait until any thread wakes it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "proxy/net/asio.hpp"

namespace proxy {

// wait() is for the coroutine of the executor. A notify() before wait() is remembered; several of
// them before one wait() count once.
class Wakeup {
 public:
  explicit Wakeup(net::Executor executor) : state_(std::make_shared<State>(executor)) {}
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  enum class Woken { notified, timed_out };
  net::Task<Woken> wait(std::optional<std::chrono::milliseconds> at_most = std::nullopt);

  // Any thread. Safe until the Wakeup is destroyed.
  void notify();
  // Any thread.
  net::Executor executor() const { return state_->timer.get_executor(); }

 private:
  struct State {
    explicit State(net::Executor executor) : timer(executor) {}
    net::Timer timer;
    std::atomic<bool> posted{false};
    bool notified = false;  // used on the executor's thread only
  };
  std::shared_ptr<State> state_;  // a notification under way keeps it alive
};

}  // namespace proxy
