// The whole proxy as one object: sockets, threads, neighbours, and its orderly end.
#pragma once

#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <optional>
#include <vector>

#include "peers/exchange.hpp"
#include "proxy/pages/pulse.hpp"
#include "proxy/server/listener.hpp"
#include "proxy/server/settings_file.hpp"
#include "proxy/server/storage.hpp"
#include "proxy/server/store_holdings.hpp"
#include "proxy/server/worker_threads.hpp"

namespace proxy {

class Server {
 public:
  // Acquires everything whose acquisition can fail. Throws std::exception with a text for a person.
  // Starts the threads of the disk and the log. Serves no client yet. Each thread of `listeners`
  // becomes an I/O thread. `policy` was read from `file`. Both references outlive the server.
  Server(PinnedPolicy policy, const SettingsFile& file, Listeners& listeners);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Serves until SIGTERM or SIGINT, then drains: accepts no more connections, and waits for open
  // ones for at most the setting timeouts.drain. SIGUSR1 reopens the access log. SIGHUP reads the
  // settings again. For the main thread.
  void run();

 private:
  // Requests that begin later follow the policy, and its neighbours are polled.
  void follow(PinnedPolicy policy);
  // Follows the settings file as it is now. If it has a fault, nothing changes. Says what is wrong,
  // and which changes wait for a restart.
  void reload();
  // Periodic work on the control thread.
  void tick(cache::Time now);
  void start();
  void drain();
  void stop();

  // Catches signals from construction on and not only in run(), since a script that reads
  // "listening on" may send a signal at once.
  struct Signals {
    net::asio::io_context io{1};
    net::asio::signal_set ending{io, SIGTERM, SIGINT};
    net::asio::signal_set rotating{io, SIGUSR1};
    net::asio::signal_set reloading{io, SIGHUP};

    // Calls `handle` at each signal of the set.
    static void on_each(net::asio::signal_set& set, const std::function<void()>& handle);
  };
  // Our digest for neighbours, and the exchange that polls theirs.
  struct Neighbourhood {
    Neighbourhood(cache::Store& store, const config::DigestSettings& settings, cache::Time now);

    const config::DigestSettings settings;
    StoreHoldings holdings;
    peers::Publisher publisher;
    std::optional<peers::Exchange> exchange;
  };

  Signals signals_;
  const SettingsFile& file_;
  PinnedPolicy policy_;
  Listeners& listeners_;
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
};

}  // namespace proxy
