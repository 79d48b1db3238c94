// What /digest and /metrics say; both tell the same story from the same numbers.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "proxy/observe/exposition.hpp"
#include "proxy/pages/own_pages.hpp"
#include "proxy/tiers/disk_status.hpp"

namespace proxy {
namespace {

using Json = nlohmann::ordered_json;

// RFC 3339, to the millisecond.
std::string timestamp(std::chrono::system_clock::time_point time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const auto part = std::chrono::duration_cast<std::chrono::milliseconds>(time - whole);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(whole)), part.count());
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

void add_filter(Json& json, const peers::FilterStats& stats, cache::Time now) {
  json["epoch"] = stats.epoch;
  json["generation"] = stats.generation;
  json["entries"] = stats.entries;
  json["capacity"] = stats.capacity;
  json["bits"] = stats.bits;
  json["bits_per_entry"] = stats.bits_per_entry;
  json["hashes"] = stats.hashes;
  json["bits_set"] = stats.bits_set;
  json["fill_ratio"] = stats.fill_ratio;
  json["false_positive_rate"] = stats.false_positive_rate;
  json["built_at"] = timestamp(stats.built_at);
  json["age_seconds"] = std::max(0.0, std::chrono::duration<double>(now - stats.built_at).count());
  json["bytes"] = stats.bytes;
}

Json causes_json(const peers::PeerStatus& peer) {
  Json causes;
  for (std::size_t cause = 0; cause < peers::kFalseHits; ++cause) {
    causes[peers::to_string(static_cast<peers::FalseHit>(cause))] = peer.false_hit_causes[cause];
  }
  return causes;
}

Json peer_json(const peers::PeerStatus& peer) {
  return {{"name", peer.name},
          {"url", peer.url},
          {"kind", peers::to_string(peer.kind)},
          {"state", peers::to_string(peer.state)},
          {"entries", or_null(peer.entries)},
          {"generation", or_null(peer.generation)},
          {"age_seconds", or_null(peer.age_seconds)},
          {"false_positive_rate", or_null(peer.false_positive_rate)},
          {"observed_false_positive_rate", or_null(peer.observed_false_positive_rate)},
          {"lookups", peer.lookups},
          {"claims", peer.claims},
          {"true_hits", peer.true_hits},
          {"false_hits", peer.false_hits},
          {"false_hit_causes", causes_json(peer)},
          {"probes", peer.probes},
          {"false_misses", peer.false_misses},
          {"false_miss_rate", or_null(peer.false_miss_rate)},
          {"failures", peer.failures},
          {"bytes_saved", peer.bytes_saved},
          {"first_byte_ms", or_null(peer.first_byte_ms)},
          {"polls", peer.polls},
          {"polls_failed", peer.polls_failed},
          {"resyncs", peer.resyncs},
          {"bytes_received", peer.bytes_received},
          {"bytes_sent", or_null(peer.bytes_sent)},
          {"last_error", peer.last_error.empty() ? Json(nullptr) : Json(peer.last_error)}};
}

Json served_json(const Metrics& metrics, DigestForm form) {
  const auto sum = [&](Count Served::*count) {
    return metrics.sum([&](const Counters& of_thread) -> const Count& {
      return of_thread.served[static_cast<std::size_t>(form)].*count;
    });
  };
  return {{"requests", sum(&Served::requests)},
          {"bytes", sum(&Served::bytes)},
          {"not_modified", sum(&Served::not_modified)}};
}

// What is unknown has no sample.
template <class Value>
struct PeerMetric {
  std::string_view name;
  std::string_view help;
  Value peers::PeerStatus::*value;
};
constexpr PeerMetric<std::uint64_t> kPeerCounters[] = {
    {"lookups", "Requests in which its digest was asked.", &peers::PeerStatus::lookups},
    {"claims", "Requests for whose URL its digest made a claim.", &peers::PeerStatus::claims},
    {"true_hits", "Claims that were true.", &peers::PeerStatus::true_hits},
    {"false_hits", "Claims that were not.", &peers::PeerStatus::false_hits},
    {"probes", "Questions for what its digest did not claim.", &peers::PeerStatus::probes},
    {"false_misses", "Of those, how many it could have answered.",
     &peers::PeerStatus::false_misses},
    {"failures", "Requests that it refused, broke or let wait.", &peers::PeerStatus::failures},
    {"saved_bytes", "Bytes that it spared the origin.", &peers::PeerStatus::bytes_saved},
    {"polls", "Times its digest was asked for.", &peers::PeerStatus::polls},
    {"polls_failed", "Of those, in vain.", &peers::PeerStatus::polls_failed},
    {"resyncs", "Changes to its digest that did not fit what was held of it.",
     &peers::PeerStatus::resyncs},
    {"digest_bytes", "Bytes of its digests received.", &peers::PeerStatus::bytes_received},
};
constexpr PeerMetric<std::optional<std::uint64_t>> kDigestSent = {
    "digest_sent_bytes", "Bytes of our digest sent to its address, if no other neighbour has it.",
    &peers::PeerStatus::bytes_sent};
constexpr PeerMetric<std::optional<double>> kPeerGauges[] = {
    {"digest_age_seconds", "Since its digest was last found current.",
     &peers::PeerStatus::age_seconds},
    {"predicted_false_positive_rate", "Of its digest, from the bits set.",
     &peers::PeerStatus::false_positive_rate},
    {"observed_false_positive_rate", "Claims of what it does not hold, of all lookups of that.",
     &peers::PeerStatus::observed_false_positive_rate},
    {"false_miss_rate", "Of the probes, how many it could have answered.",
     &peers::PeerStatus::false_miss_rate},
};

// A peer's name stands in quotes (Prometheus text format 0.0.4).
std::string escaped(std::string_view label) {
  std::string out;
  for (const char c : label) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

template <class Value>
const Value* known(const Value& value) {
  return &value;
}
template <class Value>
const Value* known(const std::optional<Value>& value) {
  return value ? &*value : nullptr;
}

// `type`: of Prometheus; the names of its counters end in "_total".
template <class Value>
void append_metric(std::string& out, const PeerMetric<Value>& metric, std::string_view type,
                   const std::vector<peers::PeerStatus>& peers) {
  auto at = std::back_inserter(out);
  const auto name =
      fmt::format("hearsay_peer_{}{}", metric.name, type == "counter" ? "_total" : "");
  describe(out, name, type, metric.help);
  for (const auto& peer : peers) {
    const auto* const value = known(peer.*metric.value);
    if (value) fmt::format_to(at, "{}{{peer=\"{}\"}} {}\n", name, escaped(peer.name), *value);
  }
}

void append_peers(std::string& out, const std::vector<peers::PeerStatus>& peers) {
  auto at = std::back_inserter(out);
  for (const auto& counter : kPeerCounters) append_metric(out, counter, "counter", peers);
  append_metric(out, kDigestSent, "counter", peers);
  describe(out, "hearsay_peer_false_hits_by_cause_total", "counter",
           "Claims that were not true, by why.");
  for (const auto& peer : peers) {
    for (std::size_t cause = 0; cause < peers::kFalseHits; ++cause) {
      fmt::format_to(at, "hearsay_peer_false_hits_by_cause_total{{peer=\"{}\",cause=\"{}\"}} {}\n",
                     escaped(peer.name), peers::to_string(static_cast<peers::FalseHit>(cause)),
                     peer.false_hit_causes[cause]);
    }
  }
  for (const auto& gauge : kPeerGauges) append_metric(out, gauge, "gauge", peers);
  describe(out, "hearsay_peer_up", "gauge", "Whether its claims count now.");
  for (const auto& peer : peers) {
    fmt::format_to(at, "hearsay_peer_up{{peer=\"{}\"}} {}\n", escaped(peer.name),
                   peer.state == peers::PeerState::usable ? 1 : 0);
  }
}

}  // namespace

std::string digest_json(const Shared& shared) {
  const auto now = shared.clock.now();
  const auto published = shared.publisher.current();
  Json json;
  json["name"] = shared.name;
  add_filter(json, published->live, now);
  Json squid;
  add_filter(squid, published->squid->stats, now);
  json["squid"] = std::move(squid);
  Json peers = Json::array();
  for (const auto& peer : shared.directory.status(std::chrono::steady_clock::now())) {
    peers.push_back(peer_json(peer));
  }
  json["peers"] = std::move(peers);
  json["served"] = {{"native", served_json(shared.metrics, DigestForm::native)},
                    {"squid", served_json(shared.metrics, DigestForm::squid)}};
  return json.dump(2, ' ', true, Json::error_handler_t::replace) + '\n';
}

std::string metrics_text(Shared& shared) {
  const Gauges gauges{.connections = shared.connections,
                      .cache_entries = shared.store.entries(),
                      .cache_bytes = shared.store.bytes(),
                      .memory_used = shared.budget.used() + shared.transit.used(),
                      .memory_limit = shared.budget.limit() + shared.transit.limit(),
                      .log_lines_dropped = shared.log.dropped(),
                      .block_entries = shared.lists.block().entries(),
                      .allow_entries = shared.lists.allow().entries()};
  std::string text;
  shared.metrics.append_text(text, gauges);
  append_disk_metrics(text, shared.disk);
  append_peers(text, shared.directory.status(std::chrono::steady_clock::now()));
  return text;
}

}  // namespace proxy
