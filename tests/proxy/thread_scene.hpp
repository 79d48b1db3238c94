// What one I/O thread needs to look into the cache and to ask origins and neighbours, without a
// process around it.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "proxy/blocks/fetch_access.hpp"
#include "proxy/observe/observed.hpp"
#include "proxy/tiers/cache.hpp"
#include "proxy/upstream/outgoing.hpp"
#include "tests/peers/listed_holdings.hpp"
#include "tests/proxy/cache/messages.hpp"
#include "tests/proxy/client/quiet_settings.hpp"
#include "tests/proxy/policy/requests.hpp"
#include "tests/support/run.hpp"
#include "tests/support/temporary_directory.hpp"

namespace proxy {

// Its coroutines can be destroyed before the objects that they refer to.
struct SceneLoop : net::asio::io_context {
  SceneLoop() : io_context(1) {
    net::Wakeup::prepare(*this);
    net::asio::use_service<net::Poller>(*this);
  }
  void end_coroutines() { shutdown(); }
};

// Time runs; or it stands at cache::kStart until the test lets it pass, with or without the
// time-outs of connections.
enum class SceneTime : std::uint8_t { stands, stands_for_timeouts, runs };

struct ThreadScene {
  explicit ThreadScene(config::Settings told = client::quiet_settings(),
                       lists::AccessLists listed = {}, SceneTime time = SceneTime::stands)
      : clock(time == SceneTime::runs ? machine::Clock() : machine::Clock(cache::kStart)),
        policy(std::make_shared<const policy::Policy>(std::move(told), std::move(listed))),
        deadlines(io.get_executor(), time == SceneTime::stands_for_timeouts ? &clock : nullptr) {
    outgoing.follow(policy->settings, policy->lists);
  }
  ~ThreadScene() { io.end_coroutines(); }
  ThreadScene(const ThreadScene&) = delete;
  ThreadScene& operator=(const ThreadScene&) = delete;

  // A disk below memory.
  void add_disk() {
    cache::DiskLimits limits;
    limits.path = home.path();
    limits.bytes = 64 << 20;
    disk = std::make_unique<cache::DiskTier>(budget, clock, limits, cache::PurgePattern::reading,
                                             digest::unpredictable());
    if (!disk->start()) throw std::runtime_error("the disk does not start");
    tiers.disk = disk.get();
  }

  template <class T>
  auto run(T task) {
    return support::run(io, std::move(task));
  }

  [[nodiscard]] cache::Ref<const cache::Entry> entry_of(const cache::Stock& stock,
                                                        std::string_view body = "") {
    return cache::entry_of(budget, stock, body, name);
  }
  // The response has been stored for `age`.
  cache::Ref<const cache::Entry> store_response(
      cache::Stock stock, std::string_view body,
      std::chrono::seconds age = std::chrono::seconds(0)) {
    const auto then = clock.now() - age;
    stock.times = {then, then};
    auto entry = entry_of(stock, body);
    if (!cache.store(cache::key_of(stock.url), entry, clock.steady()))
      throw std::runtime_error("not stored");
    return entry;
  }
  // What memory has for a GET of the URL; null: nothing.
  [[nodiscard]] cache::Ref<const cache::Entry> stored(const std::string& url) const {
    const policy::TextRequest asked("", "GET " + url + " HTTP/1.1");
    return store.find(cache::key_of(url), url, (*asked).head.fields).entry;
  }

  const support::TemporaryDirectory home;
  machine::Clock clock;
  const policy::PinnedPolicy policy;
  SceneLoop io;
  net::Deadlines deadlines;
  net::BufferPool buffers;
  upstream::TlsClient tls;
  upstream::Shared upstream{tls, clock};
  const std::vector<net::tcp::endpoint> listening{{net::asio::ip::make_address("127.0.0.1"), 3128}};
  upstream::Outgoing outgoing{{.executor = io.get_executor(),
                               .deadlines = deadlines,
                               .buffers = buffers,
                               .clock = clock,
                               .shared = upstream,
                               .listening = listening},
                              {}};
  cache::Budget budget{256 << 20};
  cache::Budget transit{32 << 20};
  std::unique_ptr<cache::DiskTier> disk;
  cache::Store store{budget};
  fill::Fills fills;
  tiers::Tiers tiers{
      .clock = clock, .budget = budget, .store = store, .fills = fills, .aside = io.get_executor()};
  tiers::Cache cache{tiers};
  tiers::CacheAccess cached{cache, io.get_executor()};
  const std::string name = "cache-a";
  peers::samples::ListedHoldings holdings;
  peers::Publisher publisher{holdings, policy->settings.digest, clock.now(),
                             digest::unpredictable()};
  fill::SiteFetches site_fetches;
  fill::UnsharedPaths unshared_paths;
  observe::Observed observed{policy->settings.log, 1, clock};
  observe::ThreadCounters& counters = observed.metrics.of_thread(0);
  sources::SourceAccess sources{.shared = {name, publisher, site_fetches, unshared_paths, upstream},
                                .cache = cached,
                                .upstream = outgoing.upstream,
                                .guard = outgoing.guard,
                                .resolver = outgoing.resolver,
                                .executor = io.get_executor(),
                                .has_neighbours = !policy->directory->peers().empty(),
                                .hedges = sources::Hedges(&counters.hedges)};
  blocks::BlockRuns runs;
  blocks::FetchAccess fetching{sources, runs, transit, upstream.range_refusals, counters};
};

}  // namespace proxy
