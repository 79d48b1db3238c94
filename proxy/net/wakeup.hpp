// A place where one coroutine waits and any thread may wake it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "proxy/net/asio.hpp"

namespace proxy {

// wait() belongs to the coroutine of its executor. A notify() that comes before wait() is kept, and
// several before one wait() count once.
class Wakeup {
 public:
  explicit Wakeup(net::Executor executor) : state_(std::make_shared<State>(executor)) {}
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  enum class Woken { notified, timed_out };
  net::Task<Woken> wait(std::optional<std::chrono::milliseconds> at_most = std::nullopt);

  // Any thread; safe until the Wakeup is destroyed.
  void notify();

 private:
  struct State {
    explicit State(net::Executor executor) : timer(executor) {}
    net::Timer timer;
    std::atomic<bool> posted{false};
    bool notified = false;  // on the executor's thread only
  };
  std::shared_ptr<State> state_;  // outlives us in a notification that is under way
};

}  // namespace proxy
