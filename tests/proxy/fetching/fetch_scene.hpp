// What one thread needs to fetch, with an origin and neighbours that answer as a test scripts them,
// without a process around it.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/blocks/fetch_access.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/fetching/fetching.hpp"
#include "proxy/fetching/from_origin.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/tiers/object_blocks.hpp"
#include "proxy/upstream/outgoing.hpp"
#include "tests/peers/listed_holdings.hpp"
#include "tests/peers/samples.hpp"
#include "tests/proxy/cache/messages.hpp"
#include "tests/proxy/policy/requests.hpp"
#include "tests/support/run.hpp"
#include "tests/support/scripted_origin.hpp"
#include "tests/support/temporary_directory.hpp"

namespace proxy::fetching {

using support::Reply;

inline const std::string kStrongTag = "\"v1\"";

// A scene is built from this.
struct SceneOf {
  bool disk = false;
  std::size_t neighbours = 0;  // b, c, ...
  std::uint64_t memory = 64 << 20;
  std::uint64_t max_object = UINT64_MAX;  // in one piece
  void (*settings)(config::Settings&) = [](config::Settings&) {};
};

// What a client of the fill has seen.
struct Seen {
  std::optional<upstream::Failure> failure = {};
  std::optional<fill::FillHead> head = {};
  std::string body = {};
  std::vector<std::string> interim = {};
  fill::FillEnd end = {};

  // "200 hello", "200 hel cut", "timed_out".
  [[nodiscard]] std::string text() const {
    std::string told;
    if (head) told = std::to_string(head->entry->status) + " " + body;
    if (failure) told.append(head ? " " : "").append(upstream::word(failure->what));
    return told;
  }
  // "stored" or why not, as the client's response and the end of its body tell.
  [[nodiscard]] std::string_view kept() const {
    if (!head) return "nothing";
    const auto& from = head->provenance;
    const bool told = from.storability != cache::Storability::yes;
    return cache::text(told ? from.storability : end.storability);
  }
};

struct FetchScene {
  explicit FetchScene(SceneOf of = {}) : budget(of.memory), store(budget, limits_of(of)) {
    config::Settings settings;
    settings.access.deny_to = {};
    settings.access.deny_to_self = false;
    settings.digest.duplicates = config::Duplicates::always;
    settings.digest.samples.check = 0;
    settings.digest.samples.false_miss = 0;
    settings.digest.site_collapse = config::SiteCollapse::off;
    for (std::size_t i = 0; i < of.neighbours; ++i) {
      const std::string peer(1, static_cast<char>('b' + i));
      auto& server = neighbours.emplace_back();
      server.sign_as(peer);
      settings.peers.push_back(peers::samples::peer(peer, server.port()));
    }
    of.settings(settings);
    pin(std::move(settings));
    sources.has_neighbours = of.neighbours > 0;
    deadlines.start();
    if (!of.disk) return;
    disk.emplace(budget, clock, cache::DiskLimits{.path = home.path(), .bytes = 64 << 20},
                 cache::PurgePattern::reading);
    if (!disk->start()) throw std::runtime_error("the disk does not start");
    tiers.disk = &*disk;
  }
  static cache::StoreLimits limits_of(const SceneOf& of) {
    cache::StoreLimits limits;
    limits.max_object = of.max_object;
    return limits;
  }

  // Later requests follow these settings.
  void pin(config::Settings settings) {
    policy = std::make_shared<const policy::Policy>(std::move(settings), lists::AccessLists{});
    outgoing.follow(policy->settings, policy->lists);
  }
  [[nodiscard]] std::string url(const std::string& path = "/x") const { return origin.url(path); }
  [[nodiscard]] digest::Key key() const { return cache::key_of(url()); }
  [[nodiscard]] const peers::PeerRef& peer(std::size_t id) const {
    return policy->directory->peers()[id];
  }
  // The neighbour's digest claims our key.
  void claim(std::size_t id) const {
    auto report = peers::samples::report_of({}, clock.steady());
    auto digest = peers::samples::native_of({});
    digest.epoch = 0xb + id;
    digest.filter.insert(key());
    report.claims = peers::Claims(std::move(digest));
    const auto names = "HIT from " + peer(id)->name;
    report.identity = peers::Identity(peers::SelfNaming{.x_cache = names});
    policy->directory->update(id, std::move(report));
  }
  [[nodiscard]] std::unique_ptr<policy::OwnedRequest> request(const std::string& lines = "") const {
    const policy::TextRequest text(lines, "GET " + url() + " HTTP/1.1");
    text.parsed->pin(policy);
    return std::make_unique<policy::OwnedRequest>(*text);
  }
  // The job of a request with these lines. The fill is listed.
  FillJob job(const std::string& lines = "") {
    auto entered = fills.enter(key(), url(), {io.get_executor()}, clock.steady());
    const bool part = lines.starts_with("Range:");
    return {.fill = std::move(entered.fill),
            .key = key(),
            .request = request(lines),
            .how = {cache::Action::fetch, http::Forward::uri_miss, part},
            .stored = {},
            .asked = clock.steady()};
  }
  // Stores an entry of the URL, which then counts as found. It is stale from the `age` on.
  cache::Kept stock(const std::string& lines, const std::string& body, unsigned status = 200) {
    const policy::TextRequest plain("");
    const policy::TextAnswer answer(status, lines);
    const auto entry =
        cache::Entry::make(budget, cache::Received{.url = url(),
                                                   .request = (*plain).head.fields,
                                                   .response = answer.head,
                                                   .times = {clock.now(), clock.now()},
                                                   .our_name = name});
    const auto size = static_cast<std::uint32_t>(body.size());
    const auto block = cache::Block::make(budget, size);
    std::copy(body.begin(), body.end(), block->data());
    entry->body = {{{block, size}}, size};
    cache.keep(key(), entry, clock.steady());
    return {entry, {}};
  }
  // A job that revalidates the entry, or completes it.
  FillJob job_for(cache::Kept stored, cache::Action action = cache::Action::revalidate) {
    auto job = this->job();
    job.how = {action, http::Forward::stale};
    job.stored = std::move(stored);
    return job;
  }

  // Runs the job to its end, with a reader who reads all.
  Seen run(FillJob job, std::optional<sources::Attempt> begun = std::nullopt) {
    auto reader = fill::FillReader::attach(job.fill, io.get_executor());
    const auto fill = job.fill;
    start_fetching(access, std::move(job), std::move(begun));
    return support::run(io, read(std::move(reader)));
  }
  // Asks the origin the job's question.
  sources::Attempt ask(const FillJob& job) {
    auto attempt = attempt_at_origin(access, job.request->get(), {job.how, job.stored.entry},
                                     sources::route_of(job.request->get()));
    (void)support::run(io, attempt.ask());
    return attempt;
  }
  // Whether the fill is over within this time, though nobody reads it.
  bool ends(const std::shared_ptr<fill::Fill>& fill, std::chrono::milliseconds time) {
    io.restart();
    const auto until = std::chrono::steady_clock::now() + time;
    bool is_over = false;
    while (!is_over && std::chrono::steady_clock::now() < until) {
      io.run_for(std::chrono::milliseconds(5));
      io.restart();
      is_over = fill.use_count() == 1;
    }
    return is_over;
  }
  Seen fetch(const std::string& lines = "") { return run(job(lines)); }
  static net::Task<Seen> read(std::unique_ptr<fill::FillReader> reader) {
    Seen seen;
    const auto head = co_await reader->head();
    while (auto interim = reader->news().interim) seen.interim.push_back(*interim);
    if (!head) {
      seen.failure = head.error();
      co_return seen;
    }
    seen.head = **head;
    for (;;) {
      const auto pieces = co_await reader->next();
      if (!pieces) seen.failure = pieces.error();
      if (!pieces || pieces->empty()) break;
      for (const auto& piece : *pieces)
        seen.body.append(piece.block->data() + piece.offset, piece.size);
    }
    seen.end = reader->end();
    co_return seen;
  }
  // What memory has for a request now: "fresh text", or empty.
  [[nodiscard]] cache::Ref<const cache::Entry> stored() const {
    const policy::TextRequest plain("");
    return store.find(key(), url(), (*plain).head.fields).entry;
  }
  [[nodiscard]] std::string stored_text() const {
    const auto entry = stored();
    if (!entry) return "";
    std::string text;
    for (const auto& slice : entry->body.slices) text.append(slice.block->data(), slice.size);
    return text;
  }
  // The blocks of a stored object, one after another. Empty: not all are stored.
  std::string object_text(const cache::Ref<const cache::Entry>& object) {
    std::string text;
    const auto end = cache::blocks_in(object->body.size);
    for (std::uint32_t number = 0; number < end; ++number) {
      const auto found = support::run(io, tiers_access.read_block(key(), object, number));
      if (!found.block) return {};
      for (const auto& slice : found.block->body.slices)
        text.append(slice.block->data(), slice.size);
    }
    return text;
  }
  [[nodiscard]] std::uint64_t not_stored(cache::Storability why) const {
    return counters.not_stored[static_cast<std::size_t>(why)].get();
  }

  support::ScriptedOrigin origin;
  std::deque<support::ScriptedOrigin> neighbours;
  const support::TemporaryDirectory home;
  policy::PinnedPolicy policy;
  machine::Clock clock{cache::kStart};
  net::asio::io_context io{1};
  net::Deadlines deadlines{io.get_executor()};
  net::BufferPool buffers;
  upstream::TlsClient tls;
  upstream::Shared shared{tls, clock};
  const std::vector<net::tcp::endpoint> listening;
  upstream::Outgoing outgoing{{.executor = io.get_executor(),
                               .deadlines = deadlines,
                               .buffers = buffers,
                               .clock = clock,
                               .shared = shared,
                               .listening = listening},
                              {}};
  cache::Budget budget;
  cache::Budget transit{64 << 20};
  cache::Store store;
  fill::Fills fills;
  tiers::Tiers tiers{
      .clock = clock, .budget = budget, .store = store, .fills = fills, .aside = io.get_executor()};
  tiers::Cache cache{tiers};
  tiers::CacheAccess tiers_access{cache, io.get_executor()};
  const std::string name = "us";
  peers::samples::ListedHoldings holdings;
  peers::Publisher publisher{holdings, config::DigestSettings(), cache::kStart};
  fill::SiteFetches site_fetches;
  observe::ThreadCounters counters;
  sources::SourceAccess sources{
      .shared = {name, publisher, site_fetches, shared.clocks, shared.names},
      .cache = tiers_access,
      .upstream = outgoing.upstream,
      .guard = outgoing.guard,
      .resolver = outgoing.resolver,
      .executor = io.get_executor(),
      .second_questions = counters.hedges};
  blocks::BlockRuns runs;
  blocks::FetchAccess access{sources, runs, transit, shared.range_refusals, counters};
  std::optional<cache::DiskTier> disk;
};

}  // namespace proxy::fetching
