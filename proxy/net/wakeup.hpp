// Lets one coroutine wait until any thread wakes it.
#pragma once

#include <memory>
#include <optional>

#include "proxy/net/asio.hpp"

namespace proxy {

// wait() is for the coroutine of the executor, one at a time. A notify() before wait() is
// remembered; several of them before one wait() count once.
class Wakeup {
 public:
  // An io_context destroys its waiting coroutines when it ends. This call, right after the
  // io_context is made, sets the order: coroutines that wait in a Wakeup are destroyed after those
  // that wait for sockets.
  static void prepare(net::asio::io_context& io);

  explicit Wakeup(net::Executor executor);
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;
  ~Wakeup();

  enum class Woken { notified, timed_out };
  net::Soon<Woken> wait(std::optional<std::chrono::milliseconds> at_most = std::nullopt);

  // Any thread. Safe until the Wakeup is destroyed.
  void notify();
  // Any thread.
  net::Executor executor() const;

 private:
  class Parked;
  struct State;
  static net::Task<Woken> wait_for(std::shared_ptr<State> state, std::chrono::milliseconds at_most);
  std::shared_ptr<State> state_;  // a notification under way keeps it alive
};

}  // namespace proxy
