// The signals by which the process is ordered to end, to reload and so on.
#pragma once

#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <functional>

#include "proxy/worker/worker.hpp"

namespace proxy {

// Catches signals from construction on, since a script that reads "listening on" may send one at
// once; a signal waits until `io` runs. For the main thread.
struct Signals {
  Loop io;  // the main thread's
  net::asio::signal_set ending{io, SIGTERM, SIGINT};
  net::asio::signal_set rotating{io, SIGUSR1};
  net::asio::signal_set reloading{io, SIGHUP};
  net::asio::signal_set succession{io, SIGUSR2};

  // Calls `handle` at each signal of the set.
  static void on_each(net::asio::signal_set& set, const std::function<void()>& handle) {
    set.async_wait([&set, handle](net::error_code error, int) {
      if (error) return;
      handle();
      on_each(set, handle);
    });
  }
};

}  // namespace proxy
