#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "proxy/observe/exposition.hpp"
#include "proxy/observe/metrics.hpp"
#include "proxy/observe/watch.hpp"
#include "proxy/pages/health.hpp"
#include "proxy/pages/texts.hpp"

namespace proxy::pages {
namespace {

using Status = peers::PeerStatus;

using Books = peers::Accuracy::Books;
using peers::PollCounts;

template <class Of>
struct PeerCounter {
  std::string_view name;
  std::string_view help;
  std::uint64_t Of::*count;
};
constexpr PeerCounter<Status> kLookups[] = {
    {"lookups", "Requests in which its digest was asked.", &Status::lookups}};
constexpr PeerCounter<Books> kBooks[] = {
    {"claims", "Requests for whose URL its digest made a claim.", &Books::claims},
    {"asked", "Questions to it for what it claimed.", &Books::asked},
    {"true_hits", "Claims that were true.", &Books::true_hits},
    {"false_hits", "Claims that were not.", &Books::false_hits},
    {"probes", "Questions for what its digest did not claim.", &Books::probes},
    {"false_misses", "Of those, how many it could have answered.", &Books::false_misses},
    {"checks", "Responses of it that were compared with the origin's.", &Books::checks},
    {"contradictions", "Of those, how many never were the origin's.", &Books::contradictions},
    {"failures", "Requests that it refused, broke or let wait.", &Books::failures},
    {"outruns", "Answers that came, or would have come, after another source's.", &Books::outruns},
    {"unclaimed_hits", "Responses that it gave although its digest had not claimed them.",
     &Books::unclaimed_hits},
    {"saved_bytes", "Bytes that it spared the origin.", &Books::bytes_saved},
};
constexpr PeerCounter<PollCounts> kPolls[] = {
    {"polls", "Times its digest was asked for.", &PollCounts::made},
    {"polls_failed", "Of those, in vain.", &PollCounts::failed},
    {"resyncs", "Changes to its digest that did not fit what was held of it.",
     &PollCounts::resyncs},
    {"digest_bytes", "Bytes of its digests received.", &PollCounts::bytes_received},
};

// An unknown value has no sample.
struct PeerGauge {
  std::string_view name;
  std::string_view help;
  std::optional<double> (*value)(const Status&);
};
constexpr PeerGauge kPeerGauges[] = {
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

void append_sample(std::string& out, std::string_view name, const Status& peer, auto value) {
  fmt::format_to(std::back_inserter(out), "{}{{peer=\"{}\"}} {}\n", name, escaped(peer.name),
                 value);
}

// `part`: of a peer's status, which has the counter.
void append_counters(std::string& out, const auto& counters, const std::vector<Status>& peers,
                     const auto& part) {
  for (const auto& [short_name, help, count] : counters) {
    const auto name = fmt::format("hearsay_peer_{}_total", short_name);
    observe::describe(out, name, "counter", help);
    for (const auto& peer : peers) append_sample(out, name, peer, part(peer).*count);
  }
}

// A parent without a digest claims nothing, and is not down for that.
bool is_up(const Status& peer) {
  const bool is_known = peer.digest.entries || peer.state == peers::PeerState::off;
  return is_known && observe::why_down(peer).empty();
}

void append_peers(std::string& out, const std::vector<Status>& peers) {
  auto at = std::back_inserter(out);
  append_counters(
      out, kLookups, peers, [](auto& peer) -> auto& { return peer; });
  append_counters(
      out, kBooks, peers, [](auto& peer) -> auto& { return peer.books; });
  append_counters(
      out, kPolls, peers, [](auto& peer) -> auto& { return peer.polls; });
  observe::describe(out, "hearsay_peer_digest_sent_bytes_total", "counter",
                    "Bytes of our digest sent to its address, if no other neighbour has it.");
  for (const auto& peer : peers) {
    if (!peer.bytes_sent) continue;
    append_sample(out, "hearsay_peer_digest_sent_bytes_total", peer, *peer.bytes_sent);
  }
  observe::describe(out, "hearsay_peer_false_hits_by_cause_total", "counter",
                    "Claims that were not true, by why.");
  for (const auto& peer : peers) {
    for (std::size_t cause = 0; cause < peers::kFalseHits; ++cause) {
      fmt::format_to(at, "hearsay_peer_false_hits_by_cause_total{{peer=\"{}\",cause=\"{}\"}} {}\n",
                     escaped(peer.name), peers::to_string(static_cast<peers::FalseHit>(cause)),
                     peer.books.by_cause[cause]);
    }
  }
  for (const auto& gauge : kPeerGauges) {
    const auto name = fmt::format("hearsay_peer_{}", gauge.name);
    observe::describe(out, name, "gauge", gauge.help);
    for (const auto& peer : peers) {
      if (const auto value = gauge.value(peer)) append_sample(out, name, peer, *value);
    }
  }
  observe::describe(out, "hearsay_peer_up", "gauge", "Whether it is asked: its claims count now.");
  for (const auto& peer : peers) append_sample(out, "hearsay_peer_up", peer, is_up(peer) ? 1 : 0);
  observe::describe(out, "hearsay_peer_state", "gauge",
                    "1: its state now, as in /digest, and why.");
  for (const auto& peer : peers) {
    const auto reason = peers::reason_of(peer.state, peer.books.reason);
    fmt::format_to(at, "hearsay_peer_state{{peer=\"{}\",state=\"{}\",reason=\"{}\"}} 1\n",
                   escaped(peer.name), peers::to_string(peer.state), peers::to_string(reason));
  }
  observe::describe(out, "hearsay_peer_rests_total", "counter",
                    "Rests that it was given, by reason.");
  for (const auto& peer : peers) {
    // The first reason is Reason::none, for which no peer rests.
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
  std::uint64_t (*value)(const policy::Routes::Status&);
};
constexpr ParentMetric kParentMetrics[] = {
    {"hearsay_parent_requests_total", "counter", "Requests for which it was turned to.",
     [](const policy::Routes::Status& parent) { return parent.requests; }},
    {"hearsay_parent_failures_total", "counter", "Of those, how many it failed.",
     [](const policy::Routes::Status& parent) { return parent.failures; }},
    {"hearsay_parent_up", "gauge", "Whether it has answered since it last failed.",
     [](const policy::Routes::Status& parent) {
       return std::uint64_t{parent.rests || parent.on_trial ? 0U : 1U};
     }},
};

void append_parents(std::string& out, const std::vector<Status>& peers,
                    const policy::Routes& routes, machine::Clock::SteadyTime now) {
  for (const auto& metric : kParentMetrics) {
    observe::describe(out, metric.name, metric.type, metric.help);
    for (const auto& peer : peers) {
      const auto parent = routes.status(peer.id, now);
      if (parent) append_sample(out, metric.name, peer, metric.value(*parent));
    }
  }
}

void append_troubles(std::string& out, const PagesAccess& pages, const policy::Policy& policy,
                     machine::Clock::SteadyTime now) {
  observe::describe(out, "hearsay_troubles", "gauge",
                    "Things that do not work now, by what: see /health.");
  const auto all = troubles_of(pages, policy, now);
  // Each is there at 0, too: an alert on a series that does not exist never fires.
  for (const auto what : kTroubles) {
    std::size_t number = 0;
    for (const auto& trouble : all) number += trouble.what == what ? trouble.number : 0;
    fmt::format_to(std::back_inserter(out), "hearsay_troubles{{what=\"{}\"}} {}\n", what, number);
  }
  observe::single(out, "hearsay_draining", "gauge",
                  "1: the proxy serves no new requests, and ends soon.",
                  pages.instance.draining ? 1 : 0);
  const auto skew = pages.upstream.clocks.skew(now);
  observe::single(out, "hearsay_clock_skew_seconds", "gauge",
                  "How far the origins' clocks agree to be ahead of ours; 0: ours is right.",
                  skew.value_or(std::chrono::seconds(0)).count());
  observe::describe(out, "hearsay_origin_failures_total", "counter",
                    "Requests that origins failed, by why.");
  for (std::size_t why = 0; why < upstream::kFailures; ++why) {
    const auto what = static_cast<upstream::Failure::What>(why);
    // The rest are faults of clients or of this proxy, which other counters have.
    if (!upstream::is_of_origin(what)) continue;
    fmt::format_to(std::back_inserter(out), "hearsay_origin_failures_total{{why=\"{}\"}} {}\n",
                   upstream::word(what), pages.upstream.health.failures(what));
  }
}

// Which origins clients name is for admins (/hearsay/origins): here these are a number.
void append_failing_origins(std::string& out, const PagesAccess& pages,
                            machine::Clock::SteadyTime now) {
  observe::describe(
      out, "hearsay_origin_failed_in_a_row", "gauge",
      "How many requests in a row failed at an origin that the settings name (reverse), since "
      "it last answered. Only origins that fail now are listed.");
  // Each name is a series, which Prometheus keeps long after the origin is well again.
  std::size_t listed = 0, others = 0;
  for (const auto& one : pages.upstream.health.failing(now)) {
    if (!one.mapped) {
      ++others;
    } else if (++listed <= kMostOrigins) {
      fmt::format_to(std::back_inserter(out),
                     "hearsay_origin_failed_in_a_row{{origin=\"{}\",why=\"{}\"}} {}\n",
                     escaped(one.origin), upstream::word(one.why.what), one.failures);
    }
  }
  observe::single(
      out, "hearsay_other_origins_failing", "gauge",
      "How many origins fail now that clients name, and the settings do not. An administrator "
      "sees their names by `hearsay origins`.",
      others);
}

struct MirrorCounter {
  std::string_view name;
  std::string_view help;
  std::uint64_t observe::RecipeTraffic::*count;
};
constexpr MirrorCounter kMirrorCounters[] = {
    {"requests", "Requests of clients for what a recipe mirrors.",
     &observe::RecipeTraffic::requests},
    {"hits", "Of those, how many this cache or a neighbour's answered.",
     &observe::RecipeTraffic::hits},
    {"saved_bytes", "Bytes of these answers.", &observe::RecipeTraffic::bytes_saved},
};

void append_mirrors(std::string& out, const observe::MirrorTraffic& mirrors) {
  const auto all = mirrors.tell();
  for (const auto& [name, help, count] : kMirrorCounters) {
    const auto metric = fmt::format("hearsay_mirror_{}_total", name);
    observe::describe(out, metric, "counter", help);
    for (const auto& [recipe, traffic] : all) {
      fmt::format_to(std::back_inserter(out), "{}{{recipe=\"{}\"}} {}\n", metric, escaped(recipe),
                     traffic.*count);
    }
  }
}

namespace disk = cache::disk;
using Tally = disk::Counters;

struct DiskCounter {
  std::string_view name;
  std::string_view help;
  Tally::Count Tally::*count;
};
constexpr DiskCounter kDiskCounters[] = {
    {"stored_bytes", "Bytes of records written for what was stored or purged.",
     &Tally::stored_bytes},
    {"reinserted_bytes", "Bytes of records written again before their segment was reclaimed.",
     &Tally::reinserted_bytes},
    {"overhead_bytes", "Bytes written that are no records.", &Tally::overhead_bytes},
    {"stored", "Records written for what was stored or purged.", &Tally::stored},
    {"reinserted", "Entries written again as they were used since.", &Tally::reinserted},
    {"evicted", "Entries that went with their segment.", &Tally::evicted},
    {"duplicates", "Entries not written again as a sibling keeps them.", &Tally::duplicates},
    {"reclaimed", "Segments removed to make room.", &Tally::reclaimed},
    {"crowded_out", "Segments among them that only the index had no room for.",
     &Tally::crowded_out},
    {"squeezed_out", "Segments among them that only the file system had no room for.",
     &Tally::squeezed_out},
    {"purged", "Entries found by the search after a purge of many.", &Tally::purged},
    {"busy", "Records not written as too much waited.", &Tally::refused_busy},
    {"resting", "Records not written as the disk rested.", &Tally::refused_resting},
    {"failed_writes", "Records that could not be written.", &Tally::failed_writes},
    {"corrupt", "Entries dropped as they were damaged.", &Tally::corrupt},
    {"failed_reads", "Reads that the system refused.", &Tally::failed_reads},
    {"slow_reads", "Reads given up as the disk did not answer in time.", &Tally::slow_reads},
    {"lost", "Times that the directory of the cache, or what it held, vanished.", &Tally::lost},
};

double write_amplification(const disk::Counters& counters) {
  const std::uint64_t stored = counters.stored_bytes;
  const std::uint64_t more = counters.reinserted_bytes + counters.overhead_bytes;
  return stored == 0 ? 1 : static_cast<double>(stored + more) / static_cast<double>(stored);
}

// None without a disk.
void append_disk_metrics(std::string& out, const cache::DiskTier* tier) {
  // A gauge of 0 would look like an empty disk.
  if (!tier) return;
  const auto& disk = tier->disk();
  for (const auto& [name, help, count] : kDiskCounters) {
    const std::uint64_t value = disk.catalog().counters.*count;
    observe::single(out, fmt::format("hearsay_disk_{}_total", name), "counter", help, value);
  }
  observe::single(
      out, "hearsay_disk_not_admitted_total", "counter",
      "Responses not written as their URL was asked for once (setting cache.disk.admit).",
      tier->admission().refused());
  const auto gauge = [&out](std::string_view name, std::string_view help, auto value) {
    observe::single(out, fmt::format("hearsay_disk_{}", name), "gauge", help, value);
  };
  gauge("up", "Whether the disk takes what is stored.", tier->state().working ? 1 : 0);
  gauge("entries", "Records in the index.", disk.catalog().index.entries());
  gauge("objects", "Large responses, in whole or in part.",
        disk.catalog().index.count(disk::RecordKind::object));
  gauge("blocks", "Blocks of large responses, of a MiB or less.",
        disk.catalog().index.count(disk::RecordKind::block));
  gauge("index_bytes", "Memory of the index, part of cache.memory.", disk.catalog().index.bytes());
  gauge("segments", "Segment files.", disk.catalog().segments.count());
  gauge("used_bytes", "What the files take.", disk.catalog().used_bytes.load());
  gauge("queued_bytes", "What waits to be written.", disk.queue().bytes());
  gauge("write_amplification", "Bytes written over bytes of what was stored.",
        write_amplification(disk.catalog().counters));
}

}  // namespace

std::string metrics_text(const PagesAccess& pages, const policy::Policy& policy) {
  // One time for all: figures that belong together tell of one moment.
  const auto now = pages.clock().steady();
  // The setting cache.memory is the budget of the store and that of transit together.
  const observe::Gauges gauges{.connections = pages.crowd.clients.connections(),
                               .cache_entries = pages.tiers.store.responses(),
                               .cache_bytes = pages.tiers.store.totals().bytes,
                               .evicted = pages.tiers.store.totals().evicted,
                               .evicted_duplicates = pages.tiers.store.totals().duplicates,
                               .memory_used = pages.tiers.budget.used() + pages.transit.used(),
                               .memory_limit = pages.tiers.budget.limit() + pages.transit.limit(),
                               .log_lines_dropped = pages.observed.log.dropped(),
                               .block_entries = policy.lists.block().entries(),
                               .allow_entries = policy.lists.allow().entries()};
  std::string text;
  pages.observed.metrics.append_text(text, gauges);
  observe::append_request_metrics(text, pages.observed.metrics);
  if (pages.observed.facts)
    observe::append_process_metrics(text, *pages.observed.facts, pages.clock().started());
  append_troubles(text, pages, policy, now);
  append_failing_origins(text, pages, now);
  append_mirrors(text, pages.observed.mirrors);
  append_disk_metrics(text, pages.tiers.disk);
  if (const auto& disk = policy.settings.cache.disk) {
    observe::single(text, "hearsay_disk_limit_bytes", "gauge", "The setting cache.disk.size.",
                    disk->size.value);
  }
  observe::single(text, "hearsay_held_polls", "gauge",
                  "Polls of neighbours that wait for a new digest.",
                  pages.visitors.held_polls.count());
  const auto peers = policy.directory->status(now);
  append_peers(text, peers);
  append_parents(text, peers, policy.routes, now);
  return text;
}

PageAnswer serve_metrics(const Visit& visit) {
  // Takes many milliseconds where many descriptors are open.
  return send_page(
      visit, reply::own_message(visit.client, 200, "text/plain; version=0.0.4; charset=utf-8", ""),
      [&visit] { return metrics_text(visit.pages, visit.policy()); });
}

}  // namespace proxy::pages
