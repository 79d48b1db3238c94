// Tells the service manager that we live, as long as every thread that serves gets on.
#pragma once

#include <atomic>

#include "proxy/machine/supervisor.hpp"
#include "proxy/net/asio.hpp"
#include "proxy/server/worker_threads.hpp"

namespace proxy {

// A thread that does not take its turn for the manager's time is stuck: then the manager restarts
// the service. For the main thread.
class Watchdog {
 public:
  // All outlive this object.
  Watchdog(net::asio::io_context& io, const machine::Supervisor& supervisor, WorkerThreads& workers)
      : supervisor_(supervisor), workers_(workers), timer_(io.get_executor()) {}

  // Does nothing unless the manager asks for signs of life. Call this when the workers run.
  void begin();
  // Says no more: another process is watched, and our signs of life would hide that it is stuck.
  void end();

 private:
  void ask_workers();
  void await_answers();

  const machine::Supervisor& supervisor_;
  WorkerThreads& workers_;
  net::Timer timer_;
  bool ended_ = false;
  std::atomic<std::size_t> unanswered_ = 0;
};

}  // namespace proxy
