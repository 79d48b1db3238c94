#include "proxy/pages/metrics_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "proxy/observe/exposition.hpp"
#include "proxy/observe/metrics.hpp"
#include "proxy/observe/watch.hpp"
#include "proxy/pages/disk_text.hpp"
#include "proxy/pages/health.hpp"

namespace proxy {
namespace {

using Status = peers::PeerStatus;

// An unknown value has no sample.
template <class Value>
struct PeerMetric {
  std::string_view name;
  std::string_view help;
  Value (*value)(const Status&);
};
constexpr PeerMetric<std::uint64_t> kPeerCounters[] = {
    {"lookups", "Requests in which its digest was asked.",
     [](const Status& peer) { return peer.lookups; }},
    {"claims", "Requests for whose URL its digest made a claim.",
     [](const Status& peer) { return peer.books.claims; }},
    {"asked", "Questions to it for what it claimed.",
     [](const Status& peer) { return peer.books.asked; }},
    {"true_hits", "Claims that were true.",
     [](const Status& peer) { return peer.books.true_hits; }},
    {"false_hits", "Claims that were not.",
     [](const Status& peer) { return peer.books.false_hits; }},
    {"probes", "Questions for what its digest did not claim.",
     [](const Status& peer) { return peer.books.probes; }},
    {"false_misses", "Of those, how many it could have answered.",
     [](const Status& peer) { return peer.books.false_misses; }},
    {"checks", "Responses of it that were compared with the origin's.",
     [](const Status& peer) { return peer.books.checks; }},
    {"contradictions", "Of those, how many never were the origin's.",
     [](const Status& peer) { return peer.books.contradictions; }},
    {"failures", "Requests that it refused, broke or let wait.",
     [](const Status& peer) { return peer.books.failures; }},
    {"outruns", "Answers that came, or would have come, after another source's.",
     [](const Status& peer) { return peer.books.outruns; }},
    {"unclaimed_hits", "Responses that it gave although its digest had not claimed them.",
     [](const Status& peer) { return peer.books.unclaimed_hits; }},
    {"saved_bytes", "Bytes that it spared the origin.",
     [](const Status& peer) { return peer.books.bytes_saved; }},
    {"polls", "Times its digest was asked for.",
     [](const Status& peer) { return peer.polls.made; }},
    {"polls_failed", "Of those, in vain.", [](const Status& peer) { return peer.polls.failed; }},
    {"resyncs", "Changes to its digest that did not fit what was held of it.",
     [](const Status& peer) { return peer.polls.resyncs; }},
    {"digest_bytes", "Bytes of its digests received.",
     [](const Status& peer) { return peer.polls.bytes_received; }},
};
constexpr PeerMetric<std::optional<std::uint64_t>> kDigestSent = {
    "digest_sent_bytes", "Bytes of our digest sent to its address, if no other neighbour has it.",
    [](const Status& peer) { return peer.bytes_sent; }};
constexpr PeerMetric<std::optional<double>> kPeerGauges[] = {
    {"digest_age_seconds", "Since its digest was last found current.",
     [](const Status& peer) { return peer.digest.age_seconds; }},
    {"predicted_false_positive_ratio", "Of its digest, from the bits set.",
     [](const Status& peer) { return peer.digest.false_positive_rate; }},
    {"observed_false_positive_ratio", "Claims of what it does not hold, of all lookups of that.",
     [](const Status& peer) { return peer.observed_false_positive_rate; }},
    {"false_miss_ratio", "Of the probes, how many it could have answered.",
     [](const Status& peer) { return peer.false_miss_rate; }},
    {"first_byte_seconds", "What it takes to the first byte of an answer, on average.",
     [](const Status& peer) -> std::optional<double> {
       if (!peer.books.first_byte) return std::nullopt;
       return std::chrono::duration<double>(*peer.books.first_byte).count();
     }},
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

// `type`: a type of Prometheus. The names of counters end in "_total".
template <class Value>
void append_metric(std::string& out, const PeerMetric<Value>& metric, std::string_view type,
                   const std::vector<Status>& peers) {
  auto at = std::back_inserter(out);
  const auto name =
      fmt::format("hearsay_peer_{}{}", metric.name, type == "counter" ? "_total" : "");
  describe(out, name, type, metric.help);
  for (const auto& peer : peers) {
    const Value measured = metric.value(peer);
    if (const auto* const value = known(measured))
      fmt::format_to(at, "{}{{peer=\"{}\"}} {}\n", name, escaped(peer.name), *value);
  }
}

// A parent without a digest claims nothing, and is not down for that.
bool is_up(const Status& peer) {
  const bool is_known = peer.digest.entries || peer.state == peers::PeerState::off;
  return is_known && why_down(peer).empty();
}

void append_peers(std::string& out, const std::vector<Status>& peers) {
  auto at = std::back_inserter(out);
  for (const auto& counter : kPeerCounters) append_metric(out, counter, "counter", peers);
  append_metric(out, kDigestSent, "counter", peers);
  describe(out, "hearsay_peer_false_hits_by_cause_total", "counter",
           "Claims that were not true, by why.");
  for (const auto& peer : peers) {
    for (std::size_t cause = 0; cause < peers::kFalseHits; ++cause) {
      fmt::format_to(at, "hearsay_peer_false_hits_by_cause_total{{peer=\"{}\",cause=\"{}\"}} {}\n",
                     escaped(peer.name), peers::to_string(static_cast<peers::FalseHit>(cause)),
                     peer.books.by_cause[cause]);
    }
  }
  for (const auto& gauge : kPeerGauges) append_metric(out, gauge, "gauge", peers);
  describe(out, "hearsay_peer_up", "gauge", "Whether it is asked: its claims count now.");
  for (const auto& peer : peers) {
    fmt::format_to(at, "hearsay_peer_up{{peer=\"{}\"}} {}\n", escaped(peer.name),
                   is_up(peer) ? 1 : 0);
  }
  describe(out, "hearsay_peer_state", "gauge", "1: its state now, as in /digest, and why.");
  for (const auto& peer : peers) {
    const auto reason = peers::reason_of(peer.state, peer.books.reason);
    fmt::format_to(at, "hearsay_peer_state{{peer=\"{}\",state=\"{}\",reason=\"{}\"}} 1\n",
                   escaped(peer.name), peers::to_string(peer.state), peers::to_string(reason));
  }
  describe(out, "hearsay_peer_rests_total", "counter", "Rests that it was given, by reason.");
  for (const auto& peer : peers) {
    for (std::size_t reason = 1; reason < peers::kReasons; ++reason) {
      fmt::format_to(at, "hearsay_peer_rests_total{{peer=\"{}\",reason=\"{}\"}} {}\n",
                     escaped(peer.name), peers::to_string(static_cast<peers::Reason>(reason)),
                     peer.books.rests[reason]);
    }
  }
}

struct ParentMetric {
  std::string_view name;
  std::string_view type;
  std::string_view help;
  std::uint64_t (*value)(const Routes::Status&);
};
constexpr ParentMetric kParentMetrics[] = {
    {"hearsay_parent_requests_total", "counter", "Requests for which it was turned to.",
     [](const Routes::Status& parent) { return parent.requests; }},
    {"hearsay_parent_failures_total", "counter", "Of those, how many it failed.",
     [](const Routes::Status& parent) { return parent.failures; }},
    {"hearsay_parent_up", "gauge", "Whether it has answered since it last failed.",
     [](const Routes::Status& parent) {
       return std::uint64_t{parent.rests || parent.on_trial ? 0U : 1U};
     }},
};

void append_parents(std::string& out, const std::vector<Status>& peers, const Routes& routes,
                    machine::Clock::SteadyTime now) {
  for (const auto& metric : kParentMetrics) {
    describe(out, metric.name, metric.type, metric.help);
    for (const auto& peer : peers) {
      const auto parent = routes.status(peer.id, now);
      if (!parent) continue;
      fmt::format_to(std::back_inserter(out), "{}{{peer=\"{}\"}} {}\n", metric.name,
                     escaped(peer.name), metric.value(*parent));
    }
  }
}

void append_troubles(std::string& out, const PagesAccess& pages, const Policy& policy) {
  describe(out, "hearsay_troubles", "gauge", "Things that do not work now, by what: see /health.");
  const auto all = troubles_of(pages, policy, pages.clock().steady());
  for (const auto what : kTroubles) {
    std::size_t number = 0;
    for (const auto& trouble : all) number += trouble.what == what ? trouble.number : 0;
    fmt::format_to(std::back_inserter(out), "hearsay_troubles{{what=\"{}\"}} {}\n", what, number);
  }
  single(out, "hearsay_draining", "gauge", "1: the proxy serves no new requests, and ends soon.",
         pages.instance.draining ? 1 : 0);
  const auto skew = pages.upstream.clocks.skew(pages.clock().steady());
  single(out, "hearsay_clock_skew_seconds", "gauge",
         "How far the origins' clocks agree to be ahead of ours; 0: ours is right.",
         skew.value_or(std::chrono::seconds(0)).count());
  describe(out, "hearsay_origin_failures_total", "counter",
           "Requests that origins failed, by why.");
  for (std::size_t why = 0; why < kFailures; ++why) {
    const auto what = static_cast<Failure::What>(why);
    if (!is_of_origin(what)) continue;
    fmt::format_to(std::back_inserter(out), "hearsay_origin_failures_total{{why=\"{}\"}} {}\n",
                   word(what), pages.upstream.health.failures(what));
  }
}

// Which origins clients name is for admins (/hearsay/origins): here these are a number.
void append_failing_origins(std::string& out, const PagesAccess& pages) {
  describe(out, "hearsay_origin_failed_in_a_row", "gauge",
           "How many requests in a row failed at an origin that the settings name (reverse), since "
           "it last answered. Only origins that fail now are listed.");
  std::size_t listed = 0, others = 0;
  for (const auto& one : pages.upstream.health.failing(pages.clock().steady())) {
    if (!one.mapped) {
      ++others;
    } else if (++listed <= kMostOrigins) {
      fmt::format_to(std::back_inserter(out),
                     "hearsay_origin_failed_in_a_row{{origin=\"{}\",why=\"{}\"}} {}\n",
                     escaped(one.origin), word(one.why.what), one.failures);
    }
  }
  single(out, "hearsay_other_origins_failing", "gauge",
         "How many origins fail now that clients name, and the settings do not. An administrator "
         "sees their names by `hearsay origins`.",
         others);
}

}  // namespace

std::string metrics_text(const PagesAccess& pages, const Policy& policy) {
  const Gauges gauges{.connections = pages.crowd.clients.connections(),
                      .cache_entries = pages.cache.store.responses(),
                      .cache_bytes = pages.cache.store.totals().bytes,
                      .evicted = pages.cache.store.totals().evicted,
                      .evicted_duplicates = pages.cache.store.totals().duplicates,
                      .memory_used = pages.cache.budget.used() + pages.transit.used(),
                      .memory_limit = pages.cache.budget.limit() + pages.transit.limit(),
                      .log_lines_dropped = pages.observed.log.dropped(),
                      .block_entries = policy.lists.block().entries(),
                      .allow_entries = policy.lists.allow().entries()};
  std::string text;
  pages.observed.metrics.append_text(text, gauges);
  append_request_metrics(text, pages.observed.metrics);
  if (pages.observed.facts) append_process_metrics(text, *pages.observed.facts, pages.clock().started());
  append_troubles(text, pages, policy);
  append_failing_origins(text, pages);
  append_disk_metrics(text, pages.cache.disk);
  if (const auto& disk = policy.settings.cache.disk) {
    single(text, "hearsay_disk_limit_bytes", "gauge", "The setting cache.disk.size.",
           disk->size.value);
  }
  single(text, "hearsay_held_polls", "gauge", "Polls of neighbours that wait for a new digest.",
         pages.visitors.held_polls.count());
  const auto peers = policy.directory->status(pages.clock().steady());
  append_peers(text, peers);
  append_parents(text, peers, policy.routes, pages.clock().steady());
  return text;
}

}  // namespace proxy
