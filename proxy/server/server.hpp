// The whole proxy as one object: sockets, threads, neighbours, and its orderly end.
#pragma once

#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <optional>
#include <vector>

#include "peers/exchange.hpp"
#include "proxy/observe/peer_watch.hpp"
#include "proxy/pages/pulse.hpp"
#include "proxy/server/control_socket.hpp"
#include "proxy/server/hand_over.hpp"
#include "proxy/server/listener.hpp"
#include "proxy/server/settings_file.hpp"
#include "proxy/server/storage.hpp"
#include "proxy/server/store_holdings.hpp"
#include "proxy/server/take_over.hpp"
#include "proxy/server/watchdog.hpp"
#include "proxy/server/worker_threads.hpp"

namespace proxy {

// Where clients, and operators of this machine, come in.
struct Sockets {
  Listeners& listeners;
  ControlSocket& control;
};

// The processes around this one.
struct Surroundings {
  succession::Predecessor& predecessor;
  const succession::Launcher& launcher;
  const machine::Supervisor& supervisor;
  const ProcessFacts& facts;  // of this one
};

class Server {
 public:
  // Acquires everything whose acquisition can fail. Throws std::exception with a text for a person.
  // Starts the threads of the disk and the log. Serves no client yet. Each thread of `listeners`
  // becomes an I/O thread. `policy` was read from `file`. All references outlive the server.
  Server(PinnedPolicy policy, const SettingsFile& file, Sockets sockets,
         const Surroundings& around);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Says in the log what starts here: see start_report(). `limits`: what limits this process.
  void report_start(const std::string& limits) const;

  // Serves until SIGTERM or SIGINT, then drains: waits for open connections for at most the setting
  // timeouts.drain. New connections are for our own pages only, so that /health says that this
  // proxy drains; all else gets 503. SIGUSR1 reopens the access log. SIGHUP reads the settings
  // again. SIGUSR2 starts a program that takes over. For the main thread.
  void run();

 private:
  // Requests that begin later follow the policy, and its neighbours are polled.
  void follow(PinnedPolicy policy);
  // Our digest, its exchange with neighbours, and the stores follow the policy.
  void follow_exchange(const Policy& policy);
  void follow_sizes(const PinnedPolicy& policy);
  // Follows the settings file as it is now. If it has a fault, or the log cannot be opened, nothing
  // changes. Says what is wrong, and which changes wait for a restart.
  Reloaded reload();
  Reloaded follow_file();  // of reload()
  // The same, ordered by another thread.
  net::Task<Reloaded> reload_on_order();
  // Returns what is wrong with the log that the settings name; nothing: it is in use.
  config::SettingsErrors follow_log(const config::LogSettings& settings);
  // Periodic work on the control thread, which polls these neighbours.
  void tick(cache::Time now, const peers::PeerDirectory& neighbours);
  void start();
  HandOver::Steps steps_of_hand_over();
  // Returns when no connection is accepted any more, and those accepted before are counted.
  void close_acceptors();
  void close_to_all();
  // The successor serves: lets each connection end with its next response. Returns when there is
  // none, after timeouts.hand_over, or when told to end.
  void leave();
  // Lets the responses under way end. Returns when there are none, or after timeouts.drain.
  void drain();
  [[nodiscard]] std::size_t open_connections() const;
  void stop();

  // Catches signals from construction on and not only in run(), since a script that reads
  // "listening on" may send a signal at once.
  struct Signals {
    Loop io;
    net::asio::signal_set ending{io, SIGTERM, SIGINT};
    net::asio::signal_set rotating{io, SIGUSR1};
    net::asio::signal_set reloading{io, SIGHUP};
    net::asio::signal_set succession{io, SIGUSR2};
    bool told_to_end = false;

    // Calls `handle` at each signal of the set.
    static void on_each(net::asio::signal_set& set, const std::function<void()>& handle);
    // Handles signals while the condition holds, for `longest` at most.
    void run_while(const std::function<bool()>& condition, std::chrono::milliseconds longest);
  };
  // Our digest for neighbours, and the exchange that polls theirs.
  struct Neighbourhood {
    Neighbourhood(cache::Store& store, const config::DigestSettings& settings, cache::Time now);

    config::DigestSettings settings;
    StoreHoldings holdings;
    peers::Publisher publisher;
    PeerWatch watch;
    std::optional<peers::Exchange> exchange;
  };

  Signals signals_;
  const SettingsFile& file_;
  PinnedPolicy policy_;
  Listeners& listeners_;
  ControlSocket& control_;
  WallClock clock_;
  Storage storage_;
  Neighbourhood neighbourhood_;
  Metrics metrics_;
  AccessLog log_;
  upstream::TlsClient tls_;
  Loop aside_;
  Process process_;
  Pulse pulse_{process_};
  WorkerThreads workers_;
  HandOver hand_over_;
  TakeOver take_over_;
  const machine::Supervisor& supervisor_;
  Watchdog watchdog_;
};

}  // namespace proxy
