// What one thread needs to answer a client, and the client, without the rooms above `client`.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/client/client.hpp"
#include "proxy/tiers/cache.hpp"
#include "proxy/upstream/outgoing.hpp"
#include "tests/peers/listed_holdings.hpp"
#include "tests/proxy/cache/messages.hpp"
#include "tests/proxy/client/collected_response.hpp"
#include "tests/proxy/client/quiet_settings.hpp"
#include "tests/proxy/policy/requests.hpp"
#include "tests/support/run.hpp"
#include "tests/support/temporary_directory.hpp"

namespace proxy::client {

// Its coroutines can be destroyed before the objects that they refer to.
struct SceneLoop : net::asio::io_context {
  SceneLoop() : io_context(1) {
    net::Wakeup::prepare(*this);
    net::asio::use_service<net::Poller>(*this);
  }
  void end_coroutines() { shutdown(); }
};

// Whether time stands at cache::kStart until the test lets it pass, or runs.
enum class SceneTime : std::uint8_t { stands, runs };

struct ServeScene {
  explicit ServeScene(config::Settings told = quiet_settings(), lists::AccessLists listed = {},
                      SceneTime time = SceneTime::stands)
      : clock(time == SceneTime::runs ? machine::Clock() : machine::Clock(cache::kStart)),
        policy(std::make_shared<const policy::Policy>(std::move(told), std::move(listed))) {
    outgoing.follow(policy->settings, policy->lists);
    sources.has_neighbours = !policy->directory->peers().empty();
    deadlines.start();
    response.begin();
  }
  ~ServeScene() { io.end_coroutines(); }
  ServeScene(const ServeScene&) = delete;
  ServeScene& operator=(const ServeScene&) = delete;

  // A disk below memory.
  void add_disk() {
    cache::DiskLimits limits;
    limits.path = home.path();
    limits.bytes = 64 << 20;
    disk = std::make_unique<cache::DiskTier>(budget, clock, limits, cache::PurgePattern::reading);
    if (!disk->start()) throw std::runtime_error("the disk does not start");
    tiers.disk = disk.get();
  }

  template <class T>
  auto run(T task) {
    return support::run(io, std::move(task));
  }
  // Lets the coroutines go on for which nothing has to happen any more.
  void settle() {
    io.restart();
    io.poll();
  }

  [[nodiscard]] cache::Ref<const cache::Entry> entry_of(cache::Stock stock,
                                                        std::string_view body = "") {
    const cache::Request asked(stock.request);
    const cache::Response told(stock.lines, stock.status);
    cache::Received received{stock.url, asked.head.fields, told.head, stock.times, "cache-a"};
    received.shared = stock.shared;
    received.giver = stock.giver;
    const auto entry = cache::Entry::make(budget, received);
    if (!body.empty()) {
      const auto size = static_cast<std::uint32_t>(body.size());
      const auto block = cache::Block::make(budget, size);
      std::copy(body.begin(), body.end(), block->data());
      entry->body = {{{block, size}}, size};
    }
    return entry;
  }
  // The response has been stored for `age`.
  void store_response(cache::Stock stock, std::string_view body,
                      std::chrono::seconds age = std::chrono::seconds(0)) {
    const auto then = clock.now() - age;
    stock.times = {then, then};
    const auto key = cache::key_of(stock.url);
    if (!cache.keep(key, entry_of(stock, body), clock.steady()))
      throw std::runtime_error("not stored");
  }
  // What memory has for a GET of the URL; null: nothing.
  [[nodiscard]] cache::Ref<const cache::Entry> stored(const std::string& url) {
    const policy::TextRequest asked("", "GET " + url + " HTTP/1.1");
    return store.find(cache::key_of(url), url, (*asked).head.fields).entry;
  }

  const support::TemporaryDirectory home;
  machine::Clock clock;
  const policy::PinnedPolicy policy;
  const config::Settings& settings = policy->settings;
  SceneLoop io;
  net::Deadlines deadlines{io.get_executor()};
  net::BufferPool buffers;
  net::Pipes pipes;
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
  blocks::BlockRuns runs;
  tiers::Tiers tiers{
      .clock = clock, .budget = budget, .store = store, .fills = fills, .aside = io.get_executor()};
  tiers::Cache cache{tiers};
  tiers::CacheAccess cached{cache, io.get_executor()};
  const std::string name = "cache-a";
  peers::samples::ListedHoldings holdings;
  peers::Publisher publisher{holdings, settings.digest, clock.now()};
  fill::SiteFetches site_fetches;
  observe::Observed observed{settings.log, 1, clock};
  observe::ThreadCounters& counters = observed.metrics.of_thread(0);
  sources::SourceAccess sources{
      .shared = {name, publisher, site_fetches, upstream.clocks, upstream.names},
      .cache = cached,
      .upstream = outgoing.upstream,
      .guard = outgoing.guard,
      .resolver = outgoing.resolver,
      .executor = io.get_executor(),
      .second_questions = counters.hedges};
  blocks::FetchAccess fetching{sources, runs, transit, upstream.range_refusals, counters};
  crowd::Crowd crowd{clock, crowd::descriptor_limits(~std::size_t{0}, 0)};
  crowd::CrowdOfThread crowd_of_thread{crowd,
                                       {.deadlines = deadlines,
                                        .clock = clock,
                                        .policy = policy,
                                        .transit = transit,
                                        .found_no_room = tiers.found_no_room},
                                       outgoing.pool};
  users::PasswordChecks password_checks{clock};
  ServeAccess serving{.fetching = fetching,
                      .policy = policy,
                      .deadlines = deadlines,
                      .buffers = buffers,
                      .pipes = pipes,
                      .crowd = crowd_of_thread,
                      .password_checks = password_checks,
                      .observed = observed};
  ResponseState state;
  observe::RequestRecord record;
  CollectedResponse response{state, record};
  Client client{serving, response, state, record, *config::parse_address("127.0.0.1"), "127.0.0.1"};
};

// A request that the scene's policy applies to.
struct SceneRequest : policy::TextRequest {
  SceneRequest(const ServeScene& scene, const std::string& lines,
               const std::string& line = "GET http://a.test/x HTTP/1.1")
      : policy::TextRequest(lines, line) {
    parsed->pin(scene.policy);
  }
};

}  // namespace proxy::client
