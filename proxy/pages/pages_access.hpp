// What the pages show, and what they steer.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/load.hpp"
#include "peers/publisher.hpp"
#include "proxy/crowd/crowd.hpp"
#include "proxy/machine/limits.hpp"
#include "proxy/observe/observed.hpp"
#include "proxy/pages/badges.hpp"
#include "proxy/pages/waiting_clients.hpp"
#include "proxy/tiers/cache.hpp"
#include "proxy/upstream/outgoing.hpp"

namespace proxy::pages {

// Who waits at a page, and who is signed in. Any thread.
struct Visitors {
  WaitingClients held_polls{WaitingClients::kPolls};
  WaitingClients watchers{WaitingClients::kWatchers};
  Badges badges{};
};

// The result of an order to read the settings again.
struct Reloaded {
  std::string file;                       // of the settings
  config::SettingsErrors errors;          // not empty: nothing has changed
  std::vector<std::string_view> waiting;  // settings that changed, and that need a restart
};

// This instance of the proxy, and whether it drains or leaves. Any thread.
struct Instance {
  const std::string name;
  const std::vector<net::tcp::endpoint>& listening;
  std::optional<machine::MemoryLimit> memory_limit = {};
  // Reads the settings again on the main thread. Empty: there are none to read.
  std::function<net::Task<Reloaded>()> reload = {};
  // A successor serves: each response closes its connection. No connection is closed before, since
  // its client may be about to send a request.
  std::atomic<bool> leaving{false};
  std::atomic<bool> draining{false};
  std::atomic<std::uint64_t> late_connections{0};  // open ones that began while it drained
  std::atomic<bool> verifying{false};              // a request to verify the cache is running
};

// Outlives all requests. Any thread.
struct PagesAccess {
  tiers::Tiers& tiers;
  cache::Budget& transit;  // of bodies that are passed on unstored
  peers::Publisher& publisher;
  upstream::Shared& upstream;
  crowd::Crowd& crowd;
  observe::Observed& observed;
  Visitors& visitors;
  Instance& instance;

  [[nodiscard]] machine::Clock& clock() const { return tiers.clock; }
};

}  // namespace proxy::pages
