// Sees whether the threads of the process get on, and ends the process if one keeps it from ending.
#pragma once

#include <atomic>
#include <boost/asio/signal_set.hpp>
#include <boost/core/noncopyable.hpp>
#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "proxy/machine/service.hpp"
#include "proxy/net/asio.hpp"
#include "proxy/observe/fault.hpp"

namespace proxy::server {

// Has a thread of its own, which needs no other one. While all threads that serve get on, tells the
// service manager that we live: otherwise the manager restarts the service. A thread that does not
// get on is named in the log and in /health.
class Watchdog : boost::noncopyable {
 public:
  // A thread of the process, and whether it has got on since the last call. A thread that
  // `works_long` has more time, and the service manager is not told if it is stuck.
  struct Watched {
    std::string name;
    std::function<bool()> got_on;
    bool works_long = false;
  };
  // Returns a function that tells whether the thread of this io_context makes progress.
  static std::function<bool()> asking(net::Executor loop);

  // How long a thread may be busy before it counts as stuck. Also how long the process may take to
  // end, beyond the time that its clients were granted.
  static constexpr std::chrono::seconds kLongest{10};

  // `rescue` saves what can be saved before the process is ended, on a thread of its own. The
  // supervisor and `stuck` outlive this object.
  Watchdog(const machine::Supervisor& supervisor, observe::StuckThreads& stuck,
           std::vector<Watched> threads, std::function<void()> rescue);
  ~Watchdog();

  // After this call, SIGTERM and SIGINT end the process after kLongest, unless end_within() is
  // called.
  void begin();
  // Call this when the threads run: watches them from now on.
  void begin_to_look();
  // Says no more to the service manager: another process is watched, and our signs of life would
  // hide that it is stuck.
  void leave() { leaves_ = true; }
  // Ends the process after `longest`, unless this function is called again before. `waits_for`: the
  // thread for which the process waits; empty: any thread that makes no progress.
  void end_within(std::chrono::milliseconds longest, std::string waits_for = {});
  // Lifts the limit of end_within(), because what follows has limits of its own.
  void let_it_end();

 private:
  struct Seen {
    Watched thread;
    std::chrono::steady_clock::duration without = {};  // so long it has not got on
  };

  void look();
  void say(std::vector<std::string> stuck);
  [[noreturn]] void end_process();

  const machine::Supervisor& supervisor_;
  observe::StuckThreads& stuck_;
  std::vector<Seen> threads_;
  const std::function<void()> rescue_;
  std::atomic<bool> leaves_ = false;
  // Only this object's thread uses this and all members below.
  net::asio::io_context io_{1};
  net::asio::signal_set ending_{io_};
  net::Timer look_{io_.get_executor()};
  net::Timer end_{io_.get_executor()};
  bool is_told_when_ = false;  // end_within() was called
  std::string waits_for_;
  std::jthread thread_;
};

}  // namespace proxy::server
