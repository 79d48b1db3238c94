// All of the proxy that a request passes through, on one thread, with one client's connection.
#pragma once

#include <string>

#include "proxy/client/client.hpp"
#include "proxy/server/http1_response.hpp"
#include "proxy/server/worker.hpp"
#include "proxy/tiers/store_holdings.hpp"
#include "tests/proxy/client/quiet_settings.hpp"
#include "tests/proxy/policy/requests.hpp"
#include "tests/proxy/received.hpp"
#include "tests/support/loopback.hpp"

namespace proxy {

struct Scene {
  // The digest lists the keys of the store, or those that a test gives.
  explicit Scene(config::Settings told = client::quiet_settings(), lists::AccessLists listed = {},
                 peers::Holdings* held = nullptr)
      : policy(std::make_shared<const policy::Policy>(std::move(told), std::move(listed))),
        publisher{held ? *held : holdings, settings.digest, clock.now(), digest::unpredictable()} {
    worker.follow(policy);
    worker.deadlines.start();
  }

  // Runs `task`, and returns the bytes that the client receives.
  std::string received(net::Task<void> task) {
    support::run(worker.io, std::move(task));
    stream.shutdown_send();
    return received_by(pair.second);
  }

  const policy::PinnedPolicy policy;
  const config::Settings& settings = policy->settings;
  peers::PeerDirectory& directory = *policy->directory;
  const std::vector<net::tcp::endpoint> listening{{net::asio::ip::make_address("127.0.0.1"), 3128}};
  machine::Clock clock;
  server::Storage storage{settings, clock};
  cache::Budget& budget = storage.budget;
  cache::Budget& transit = storage.transit;
  cache::Store& store = storage.store;
  tiers::StoreHoldings holdings{store};
  peers::Publisher publisher;
  upstream::TlsClient tls;
  net::asio::io_context aside{1};
  server::Shared shared{{.name = "cache-a",
                         .listening = listening,
                         .settings = settings,
                         .threads = 1,
                         .storage = storage,
                         .clock = clock,
                         .publisher = publisher,
                         .tls = tls,
                         .aside = aside.get_executor()}};
  server::Worker worker{shared, 0};
  std::pair<net::Socket, net::Socket> pair = support::connected_pair(worker.io);
  net::Stream stream{std::move(pair.first), worker.deadlines};
  net::Input input{stream, worker.buffers};
  observe::RequestRecord record;
  server::Http1Response response{
      stream, input, record, {worker.buffers, transit, clock, settings.timeouts.body}};
  client::Client client{
      worker.given.serving, response, response.state(), record, *config::parse_address("127.0.0.1"),
      "127.0.0.1"};
};

}  // namespace proxy
