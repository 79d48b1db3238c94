// The whole proxy as one object: from its first connection to its orderly end.
#pragma once

#include <boost/asio/signal_set.hpp>
#include <boost/core/noncopyable.hpp>
#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include "proxy/pages/pages_access.hpp"
#include "proxy/server/engine.hpp"
#include "proxy/server/hand_over.hpp"
#include "proxy/server/settings_file.hpp"
#include "proxy/server/watchdog.hpp"

namespace proxy::server {

// The processes around this one.
struct Surroundings {
  machine::succession::Predecessor& predecessor;
  const machine::succession::Launcher& launcher;
  const machine::Supervisor& supervisor;
  const observe::ProcessFacts& facts;  // of this one
};

class Server : boost::noncopyable {
 public:
  // Acquires everything whose acquisition can fail (see Engine), and catches signals from now on.
  // No client is served yet. `policy` was read from `file`. All references outlive the server.
  Server(policy::PinnedPolicy policy, const SettingsFile& file, Sockets sockets,
         const Surroundings& around);
  ~Server();

  // Says in the log what starts here: see start_report(). `limits`: what limits this process.
  void report_start(const std::string& limits) const;

  // Serves until SIGTERM or SIGINT, then drains: each open connection ends with its next response,
  // until all have ended or timeouts.drain is over. SIGUSR1 reopens the access log. SIGHUP reads
  // the settings again. SIGUSR2 starts a program that takes over. For the main thread.
  void run();

 private:
  // Caught from construction on, since a script that reads "listening on" may send one at once. A
  // signal waits until `io` runs.
  struct Signals {
    Loop io;  // the main thread's
    net::asio::signal_set ending{io, SIGTERM, SIGINT};
    net::asio::signal_set rotating{io, SIGUSR1};
    net::asio::signal_set reloading{io, SIGHUP};
    net::asio::signal_set succession{io, SIGUSR2};
    bool told_to_end = false;
  };

  void handle_signals();
  void run_while(const std::function<bool()>& condition, std::chrono::milliseconds longest);
  void start();
  void stop();
  HandOver::Steps steps_of_hand_over();
  [[nodiscard]] std::vector<Watchdog::Watched> watched();

  // Reads the settings file and the trusted certificates again, and applies both. If the file has a
  // fault, or the log cannot be opened, nothing changes. Says what is wrong, also in /health until
  // a reload succeeds, and which changes wait for a restart.
  pages::Reloaded reload();
  pages::Reloaded apply_file();
  // reload() for another thread, which awaits it.
  net::Task<pages::Reloaded> reload_on_order();
  // Returns what is wrong with the log that the settings name; nothing: it is in use.
  config::SettingsErrors apply_log(const config::LogSettings& settings);
  void record_faults(const config::SettingsErrors& errors);

  // Returns when no connection is accepted any more, and those accepted before are counted.
  void close_acceptors();
  // Leaves connections that are not accepted yet to a successor, which has the same sockets.
  void close_to_all();
  // Like close_to_all(). In addition, each open connection ends with its next response. Returns
  // once all connections and the predecessor have ended; at the latest after timeouts.hand_over, or
  // when a signal tells this process to end.
  void leave();
  // See run(). New connections are for our own pages only, so that /health says that this proxy
  // drains; all else gets 503. After leave(), waits only if that was told to end.
  void drain();
  [[nodiscard]] std::size_t open_connections() const;

  Signals signals_;
  const SettingsFile& file_;
  const Sockets sockets_;
  const machine::Supervisor& supervisor_;
  Engine engine_;
  HandOver hand_over_;
  TakeOver take_over_;
  Watchdog watchdog_;
};

}  // namespace proxy::server
