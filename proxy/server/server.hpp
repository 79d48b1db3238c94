// The whole proxy as one object: sockets, threads, neighbours, and its orderly end.
#pragma once

#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "peers/exchange.hpp"
#include "proxy/fill/block_runs.hpp"
#include "proxy/server/listener.hpp"
#include "proxy/server/store_holdings.hpp"
#include "proxy/tiers/disk_watch.hpp"
#include "proxy/worker/worker.hpp"

namespace proxy {

class Server {
 public:
  // Opens everything that can fail; throws std::exception with a text for a person. Nobody is
  // served yet.
  Server(const config::Settings& settings, lists::AccessLists lists, Gateway gateway);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] const std::vector<net::tcp::endpoint>& addresses() const;

  // Serves until SIGTERM or SIGINT, then drains: stops accepting, and gives what runs up to the
  // setting timeouts.drain. SIGUSR1 reopens the access log. For the main thread.
  void run();

 private:
  void start();
  void drain();
  void stop();

  // From here on, not from run(): who reads that we listen may send one at once.
  net::asio::io_context signals_{1};
  net::asio::signal_set ending_{signals_, SIGTERM, SIGINT};
  net::asio::signal_set rotating_{signals_, SIGUSR1};
  const config::Settings settings_;
  const lists::AccessLists lists_;
  const std::size_t threads_;
  Listeners listeners_;
  Clock clock_;
  cache::Budget budget_;
  cache::Budget transit_;
  std::unique_ptr<cache::DiskTier> disk_;  // null: memory is all there is
  cache::Store store_;
  Fills fills_;
  BlockRuns runs_;
  Gateway gateway_;
  const SiteRules rules_;
  StoreHoldings holdings_;
  peers::PeerDirectory directory_;
  peers::Publisher publisher_;
  Metrics metrics_;
  AccessLog log_;
  upstream::TlsClient tls_;
  Loop aside_;
  DiskWatch watch_;
  Shared shared_;
  std::deque<Worker> workers_;
  std::optional<peers::Exchange> exchange_;
  std::vector<std::jthread> running_;
};

}  // namespace proxy
