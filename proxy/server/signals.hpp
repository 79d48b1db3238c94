// The signals by which the process is ordered to end, to reload and so on.
#pragma once

#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <functional>

#include "proxy/server/worker.hpp"

namespace proxy {

// Catches signals from construction on, since a script that reads "listening on" may send one at
// once; a signal waits until `io` runs. For the main thread.
struct Signals {
  Loop io;  // the main thread's
  net::asio::signal_set ending{io, SIGTERM, SIGINT};
  net::asio::signal_set rotating{io, SIGUSR1};
  net::asio::signal_set reloading{io, SIGHUP};
  net::asio::signal_set succession{io, SIGUSR2};
  bool told_to_end = false;

  // Calls `handle` at each signal of the set.
  static void on_each(net::asio::signal_set& set, const std::function<void()>& handle) {
    set.async_wait([&set, handle](net::error_code error, int) {
      if (error) return;
      handle();
      on_each(set, handle);
    });
  }

  // Handles signals while the condition holds, for `longest` at most. Polls the condition: this
  // thread has little else to do, and the end of a connection then costs a serving thread one
  // atomic subtraction.
  void run_while(const std::function<bool()>& condition, std::chrono::milliseconds longest) {
    const auto until = std::chrono::steady_clock::now() + longest;
    while (condition() && std::chrono::steady_clock::now() < until) {
      io.restart();
      io.run_for(std::chrono::milliseconds(10));
    }
  }
};

}  // namespace proxy
