#include "proxy/observe/metrics.hpp"

#include "proxy/observe/exposition.hpp"

namespace proxy {
namespace {

struct CounterRow {
  std::string_view name;
  std::string_view help;
  Count ThreadCounters::*count;
};
constexpr CounterRow kCounters[] = {
    {"hearsay_sent_bytes_total", "Bytes sent to clients, heads included.",
     &ThreadCounters::bytes_sent},
    {"hearsay_collapsed_total", "Requests answered from another one's fetch.",
     &ThreadCounters::collapsed},
    {"hearsay_aborted_total", "Responses that did not reach their client whole.",
     &ThreadCounters::aborted},
    {"hearsay_malformed_total", "Requests refused as malformed.", &ThreadCounters::malformed},
    {"hearsay_stored_total", "Responses stored.", &ThreadCounters::stored},
    {"hearsay_hedges_total", "Second questions, asked while a neighbour was silent.",
     &ThreadCounters::hedges},
    {"hearsay_blocked_total", "Requests refused because of a list (access.block).",
     &ThreadCounters::blocked},
    {"hearsay_purged_total", "Responses dropped by PURGE and /admin/purge.",
     &ThreadCounters::purged},
    {"hearsay_connections_accepted_total", "Client connections accepted.",
     &ThreadCounters::accepted},
    {"hearsay_connections_rejected_total", "Client connections over the limit.",
     &ThreadCounters::rejected},
};

struct DigestRow {
  std::string_view name;
  std::string_view help;
  Count DigestsSent::*count;
};
constexpr DigestRow kDigests[] = {
    {"hearsay_digest_requests_total", "Requests for our digest.", &DigestsSent::requests},
    {"hearsay_digest_sent_bytes_total", "Bytes of our digest sent.", &DigestsSent::bytes},
    {"hearsay_digest_not_modified_total", "Requests for our digest answered by 304.",
     &DigestsSent::not_modified},
};

// The label `why` of failed requests has the words of Failure::What. The cause "parent", a parent's
// refusal of a tunnel, is no failure of ours and has no such word.
void append_requests(std::string& out, const Metrics& metrics) {
  describe(out, "hearsay_requests_total", "counter",
           "Requests answered, by result, and if they failed, by why.");
  const auto into = std::back_inserter(out);
  for (std::size_t tag = 0; tag < kTags; ++tag) {
    if (static_cast<Tag>(tag) == Tag::failed) continue;
    fmt::format_to(
        into, "hearsay_requests_total{{result=\"{}\"}} {}\n", metric_tag(static_cast<Tag>(tag)),
        metrics.sum([tag](const ThreadCounters& c) -> const Count& { return c.requests[tag]; }));
  }
  for (std::size_t cause = 0; cause <= kFailures; ++cause) {
    const auto what = static_cast<Failure::What>(cause);
    if (what == Failure::What::denied) continue;  // has a result of its own
    fmt::format_to(
        into, "hearsay_requests_total{{result=\"{}\",why=\"{}\"}} {}\n", metric_tag(Tag::failed),
        cause == kFailures ? "parent" : word(what),
        metrics.sum([cause](const ThreadCounters& c) -> const Count& { return c.failed[cause]; }));
  }
}

void append_cuts(std::string& out, const Metrics& metrics) {
  describe(out, "hearsay_cuts_total", "counter",
           "Connections ended because their client took long, by why.");
  for (std::size_t why = 1; why < kCuts; ++why) {
    fmt::format_to(
        std::back_inserter(out), "hearsay_cuts_total{{why=\"{}\"}} {}\n",
        word(static_cast<Cut>(why)),
        metrics.sum([why](const ThreadCounters& c) -> const Count& { return c.cuts[why]; }));
  }
}

void append_digests(std::string& out, const Metrics& metrics) {
  for (const DigestRow& row : kDigests) {
    describe(out, row.name, "counter", row.help);
    for (const std::size_t form : {0U, 1U}) {
      fmt::format_to(std::back_inserter(out), "{}{{form=\"{}\"}} {}\n", row.name,
                     form == static_cast<std::size_t>(ServedForm::native) ? "native" : "squid",
                     metrics.sum([&](const ThreadCounters& c) -> const Count& {
                       return c.digests_sent[form].*row.count;
                     }));
    }
  }
}

void append_gauges(std::string& out, const Gauges& now) {
  single(out, "hearsay_connections", "gauge", "Client connections open.", now.connections);
  single(out, "hearsay_cache_entries", "gauge", "Responses stored in memory.", now.cache_entries);
  single(out, "hearsay_cache_bytes", "gauge", "Bytes of stored responses.", now.cache_bytes);
  single(out, "hearsay_evicted_total", "counter", "Responses that memory gave up to make room.",
         now.evicted);
  single(out, "hearsay_evicted_duplicates_total", "counter",
         "Responses that memory gave up as a sibling keeps them.", now.evicted_duplicates);
  single(out, "hearsay_memory_used_bytes", "gauge",
         "Memory of the cache, responses on their way in included.", now.memory_used);
  single(out, "hearsay_memory_limit_bytes", "gauge", "The setting cache.memory.", now.memory_limit);
  single(out, "hearsay_access_log_dropped_total", "counter",
         "Lines that the access log could not take in time.", now.log_lines_dropped);
  describe(out, "hearsay_list_entries", "gauge", "Distinct entries of access.block and .allow.");
  fmt::format_to(
      std::back_inserter(out),
      "hearsay_list_entries{{list=\"block\"}} {}\nhearsay_list_entries{{list=\"allow\"}} {}\n",
      now.block_entries, now.allow_entries);
}

}  // namespace

void Metrics::append_text(std::string& out, const Gauges& gauges) const {
  append_requests(out, *this);
  describe(out, "hearsay_body_bytes_total", "counter", "Bytes of bodies, by where they came from.");
  const auto bytes_by = [&](std::string_view source, auto pick) {
    fmt::format_to(std::back_inserter(out), "hearsay_body_bytes_total{{source=\"{}\"}} {}\n",
                   source, sum(pick));
  };
  bytes_by("cache", [](const ThreadCounters& c) -> const Count& { return c.bytes_from_cache; });
  bytes_by("sibling", [](const ThreadCounters& c) -> const Count& {
    return c.upstream_bytes[static_cast<std::size_t>(Hierarchy::sibling)];
  });
  bytes_by("parent_store", [](const ThreadCounters& c) -> const Count& {
    return c.upstream_bytes[static_cast<std::size_t>(Hierarchy::parent_hit)];
  });
  bytes_by("parent", [](const ThreadCounters& c) -> const Count& {
    return c.upstream_bytes[static_cast<std::size_t>(Hierarchy::parent)];
  });
  bytes_by("origin", [](const ThreadCounters& c) -> const Count& {
    return c.upstream_bytes[static_cast<std::size_t>(Hierarchy::direct)];
  });
  for (const auto& [name, help, count] : kCounters) {
    const auto pick = [of = count](const ThreadCounters& c) -> const Count& { return c.*of; };
    single(out, name, "counter", help, sum(pick));
  }
  append_cuts(out, *this);
  append_digests(out, *this);
  append_gauges(out, gauges);
}

}  // namespace proxy
