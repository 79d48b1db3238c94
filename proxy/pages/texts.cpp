#include "proxy/pages/texts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "proxy/observe/events.hpp"
#include "proxy/observe/sentence.hpp"
#include "proxy/pages/health.hpp"

namespace proxy::pages {
namespace {

using Json = nlohmann::ordered_json;

// A URL in a log may hold bytes that are no UTF-8, for which dump() would throw.
std::string one_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::int64_t seconds_of(std::chrono::sys_seconds time) {
  return time.time_since_epoch().count();
}

std::string_view word(observe::RecentKind kind) {
  constexpr std::string_view kWords[observe::kRecentKinds] = {"hit", "forwarded", "failed"};
  return kWords[static_cast<std::size_t>(kind)];
}

Json request_json(const observe::RecentRequests::Found& found) {
  const auto& request = *found.request;
  const auto& record = request.record;
  const std::chrono::duration<double> ended = request.ended.time_since_epoch();
  return {{"id", fmt::format("{}-{}", found.thread, request.number)},
          {"kind", word(observe::kind_of(record))},
          {"time", ended.count()},
          {"took_ms", request.took.count()},
          {"client", request.client},
          {"neighbour", record.neighbour.empty() ? Json() : Json(record.neighbour)},
          {"method", request.method},
          {"url", request.url},
          {"status", record.status},
          {"bytes", record.bytes},
          {"result", observe::squid_tag(record.tag)},
          {"verdict", observe::sentence_of(record)}};
}

// A request that was kept may stand for others that were not, so sums have fractions.
std::uint64_t whole(double number) {
  return static_cast<std::uint64_t>(std::llround(number));
}

Json rows_json(std::vector<observe::Busiest::Row> rows) {
  std::sort(rows.begin(), rows.end(), [](const auto& one, const auto& other) {
    return std::tie(other.requests, other.bytes, one.name) <
           std::tie(one.requests, one.bytes, other.name);
  });
  auto all = Json::array();
  for (const auto& row : rows) {
    all.push_back({{"name", row.name},
                   {"requests", whole(row.requests)},
                   {"hits", whole(row.hits)},
                   {"bytes", whole(row.bytes)}});
  }
  return all;
}

Json now_json(const PagesAccess& pages, const policy::Policy& policy) {
  Json now{{"connections", pages.crowd.clients.connections()},
           {"watchers", pages.visitors.watchers.count()},
           {"memory_entries", pages.tiers.store.responses()},
           {"memory_bytes", pages.tiers.budget.used() + pages.transit.used()},
           {"memory_limit", pages.tiers.budget.limit() + pages.transit.limit()}};
  const auto& disk = policy.settings.cache.disk;
  if (pages.tiers.disk && disk) {
    const auto& catalog = pages.tiers.disk->disk().catalog();
    now["disk_records"] = catalog.index.entries();
    now["disk_bytes"] = catalog.used_bytes.load();
    now["disk_limit"] = disk->size.value;
  }
  return now;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json filter_json(const peers::FilterStats& stats, cache::Time now) {
  const std::chrono::duration<double> age = now - stats.built_at;
  return {{"epoch", stats.epoch},
          {"generation", stats.generation},
          {"entries", stats.entries},
          {"capacity", stats.capacity},
          {"bits", stats.bits},
          {"bits_per_entry", stats.bits_per_entry},
          {"hashes", stats.hashes},
          {"bits_set", stats.bits_set},
          {"fill_ratio", stats.fill_ratio},
          {"false_positive_rate", stats.false_positive_rate},
          {"built_at", observe::timestamp(stats.built_at)},
          // Never negative: a digest may be published after `now` was read.
          {"age_seconds", std::max(0.0, age.count())},
          {"bytes", stats.bytes}};
}

Json causes_json(const peers::Accuracy::Books& books) {
  Json causes;
  for (std::size_t cause = 0; cause < peers::kFalseHits; ++cause) {
    causes[peers::to_string(static_cast<peers::FalseHit>(cause))] = books.by_cause[cause];
  }
  return causes;
}

Json rests_json(const peers::Accuracy::Books& books) {
  auto rests = Json::object();
  for (std::size_t reason = 0; reason < peers::kReasons; ++reason) {
    const auto begun = books.rests[reason];
    if (begun > 0) rests[peers::to_string(static_cast<peers::Reason>(reason))] = begun;
  }
  return rests;
}

// What a parent has fetched for us; null for a sibling.
Json forwarding_json(const std::optional<policy::Routes::Status>& parent) {
  if (!parent) return nullptr;
  const char* const state = parent->rests ? "resting" : parent->on_trial ? "trying" : "usable";
  return {{"state", state}, {"requests", parent->requests}, {"failures", parent->failures}};
}

Json peer_json(const peers::PeerStatus& peer, const std::optional<policy::Routes::Status>& parent) {
  const auto& digest = peer.digest;
  const auto& books = peer.books;
  const auto reason = peers::reason_of(peer.state, books.reason);
  return {
      {"name", peer.name},
      {"url", peer.url},
      {"role", peer.role == config::Role::parent ? "parent" : "sibling"},
      {"trust", peer.trust == config::Trust::guest ? "guest" : "site"},
      {"kind", peers::to_string(peer.kind)},
      {"state", peers::to_string(peer.state)},
      {"reason", reason == peers::Reason::none ? Json(nullptr) : Json(peers::to_string(reason))},
      {"entries", or_null(digest.entries)},
      {"generation", or_null(digest.generation)},
      {"age_seconds", or_null(digest.age_seconds)},
      {"false_positive_rate", or_null(digest.false_positive_rate)},
      {"observed_false_positive_rate", or_null(peer.observed_false_positive_rate)},
      {"lookups", peer.lookups},
      {"claims", books.claims},
      {"asked", books.asked},
      {"true_hits", books.true_hits},
      {"false_hits", books.false_hits},
      {"false_hit_causes", causes_json(books)},
      {"probes", books.probes},
      {"false_misses", books.false_misses},
      {"false_miss_rate", or_null(peer.false_miss_rate)},
      {"checks", books.checks},
      {"contradictions", books.contradictions},
      {"failures", books.failures},
      {"outruns", books.outruns},
      {"unclaimed_hits", books.unclaimed_hits},
      {"rests", rests_json(books)},
      {"bytes_saved", books.bytes_saved},
      {"first_byte_ms", books.first_byte
                            ? Json(static_cast<double>(books.first_byte->count()) / 1000)
                            : Json(nullptr)},
      {"forwarding", forwarding_json(parent)},
      {"polls", peer.polls.made},
      {"polls_failed", peer.polls.failed},
      {"resyncs", peer.polls.resyncs},
      {"bytes_received", peer.polls.bytes_received},
      {"bytes_sent", or_null(peer.bytes_sent)},
      {"last_error", peer.last_error.empty() ? Json(nullptr) : Json(peer.last_error)}};
}

Json served_json(const observe::Metrics& metrics, observe::ServedForm form) {
  const auto sum = [&](observe::Count observe::DigestsSent::*count) {
    return metrics.sum([&](const observe::ThreadCounters& of_thread) -> const observe::Count& {
      return of_thread.digests_sent[static_cast<std::size_t>(form)].*count;
    });
  };
  return {{"requests", sum(&observe::DigestsSent::requests)},
          {"bytes", sum(&observe::DigestsSent::bytes)},
          {"not_modified", sum(&observe::DigestsSent::not_modified)}};
}

Json mirrors_json(const observe::MirrorTraffic& mirrors) {
  auto all = Json::array();
  for (const auto& [recipe, traffic] : mirrors.tell()) {
    const bool has_failed = !traffic.last_failure.empty();
    all.push_back(
        {{"recipe", recipe},
         {"requests", traffic.requests},
         {"hits", traffic.hits},
         {"bytes_saved", traffic.bytes_saved},
         {"last_failure", has_failed ? Json(traffic.last_failure) : Json(nullptr)},
         {"failed_at", has_failed ? Json(observe::timestamp(traffic.failed_at)) : Json(nullptr)}});
  }
  return all;
}

}  // namespace

std::string history_json(const observe::History::Span& span) {
  auto text =
      fmt::format(R"({{"step_seconds":{},"end":{})", span.step.count(), seconds_of(span.end));
  std::vector<std::uint64_t> numbers(span.samples.size());
  for (std::size_t series = 0; series < observe::kSeries; ++series) {
    std::transform(span.samples.begin(), span.samples.end(), numbers.begin(),
                   [series](const observe::Sample& sample) { return sample[series]; });
    fmt::format_to(std::back_inserter(text), R"(,"{}":[{}])",
                   observe::name_of(static_cast<observe::Series>(series)), fmt::join(numbers, ","));
  }
  return text + "}\n";
}

std::string requests_json(const std::vector<observe::RecentRequests::Found>& requests) {
  auto all = Json::array();
  for (const auto& found : requests) all.push_back(request_json(found));
  return one_line(all);
}

std::string busiest_json(const PagesAccess& pages, const policy::Policy& policy) {
  auto told = pages.observed.busiest.tell();
  auto clients = rows_json(std::move(told.clients));
  for (auto& client : clients) {
    const auto address = config::parse_address(client["name"].get<std::string>());
    if (!address) continue;
    client["connections"] = pages.crowd.clients.connections_of(*address);
    const auto peer = policy.directory->at(*address);
    if (peer) client["neighbour"] = peer->name;
  }
  return one_line({{"hosts", rows_json(std::move(told.hosts))},
                   {"urls", rows_json(std::move(told.urls))},
                   {"clients", std::move(clients)}});
}

// Of each kind, since a few failures among thousands of hits are what somebody looks for.
std::vector<observe::RecentRequests::Found> newest_of_each_kind(
    const std::vector<observe::RecentRequests::Found>& requests, std::size_t most) {
  std::array<std::size_t, observe::kRecentKinds> taken{};
  std::vector<observe::RecentRequests::Found> newest;
  for (auto it = requests.rbegin(); it != requests.rend(); ++it) {
    // From the newest on: of a kind that has too many, the oldest are left out.
    auto& of_kind = taken[static_cast<std::size_t>(observe::kind_of(it->request->record))];
    if (of_kind++ < most) newest.push_back(*it);
  }
  std::reverse(newest.begin(), newest.end());
  return newest;
}

std::string news_json(const PagesAccess& pages, const policy::Policy& policy, Audience readers) {
  const auto latest = pages.observed.history.latest();
  Json sample;
  for (std::size_t series = 0; series < observe::kSeries; ++series) {
    sample[observe::name_of(static_cast<observe::Series>(series))] = latest.sample[series];
  }
  const auto troubles = troubles_of(pages, policy, pages.clock().steady());
  const auto without_end = [](std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    return text;
  };
  return fmt::format(R"({{"end":{},"sample":{},"now":{},"health":{},"digest":{}}})",
                     seconds_of(machine::whole_seconds(pages.clock().shown(latest.end))),
                     one_line(sample), one_line(now_json(pages, policy)),
                     without_end(health_json(pages, troubles, readers)),
                     without_end(digest_json(pages, policy, JsonLayout::one_line)));
}

// The news are text already, made once for all watchers, so the member is added without a parser.
std::string with_requests(std::string news,
                          const std::vector<observe::RecentRequests::Found>& requests) {
  news.back() = ',';
  return news + R"("requests":)" + requests_json(newest_of_each_kind(requests, kMostNews)) + '}';
}

std::string digest_json(const PagesAccess& pages, const policy::Policy& policy, JsonLayout layout) {
  const auto now = pages.clock().now();
  const auto published = pages.publisher.current();
  Json json{{"name", pages.instance.name}};
  json.update(filter_json(published->live, now));
  json["squid"] = filter_json(published->squid->stats, now);
  json["peers"] = Json::array();
  const auto steady_now = pages.clock().steady();
  for (const auto& peer : policy.directory->status(steady_now)) {
    json["peers"].push_back(peer_json(peer, policy.routes.status(peer.id, steady_now)));
  }
  json["served"] = {{"native", served_json(pages.observed.metrics, observe::ServedForm::native)},
                    {"squid", served_json(pages.observed.metrics, observe::ServedForm::squid)}};
  auto mirrors = mirrors_json(pages.observed.mirrors);
  if (!mirrors.empty()) json["mirrors"] = std::move(mirrors);
  return json.dump(layout == JsonLayout::indented ? 2 : -1, ' ', true,
                   Json::error_handler_t::replace) +
         '\n';
}

PageAnswer serve_digest_json(const Visit& visit) {
  return send_json(visit.client, digest_json(visit.pages, visit.policy()));
}

}  // namespace proxy::pages
