#include "proxy/observe/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "proxy/observe/exposition.hpp"

namespace proxy::observe {
namespace {

template <class Owner>
struct CounterRow {
  std::string_view name;
  std::string_view help;
  Count Owner::*count;
};
constexpr CounterRow<ThreadCounters> kCounters[] = {
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

constexpr CounterRow<DigestsSent> kDigests[] = {
    {"hearsay_digest_requests_total", "Requests for our digest.", &DigestsSent::requests},
    {"hearsay_digest_sent_bytes_total", "Bytes of our digest sent.", &DigestsSent::bytes},
    {"hearsay_digest_not_modified_total", "Requests for our digest answered by 304.",
     &DigestsSent::not_modified},
};

constexpr std::pair<std::string_view, Hierarchy> kSources[] = {
    {"sibling", Hierarchy::sibling},
    {"parent_store", Hierarchy::parent_hit},
    {"parent", Hierarchy::parent},
    {"origin", Hierarchy::direct}};

// Appends one sample with a label.
void labelled(std::string& out, std::string_view name, std::string_view label,
              std::string_view value, std::uint64_t sum) {
  fmt::format_to(std::back_inserter(out), "{}{{{}=\"{}\"}} {}\n", name, label, value, sum);
}

// The label `why` of failed requests has the words of Failure::What. The cause "parent", a parent's
// refusal of a tunnel, is no failure of ours and has no such word.
void append_requests(std::string& out, const Metrics& metrics) {
  constexpr std::string_view kName = "hearsay_requests_total";
  describe(out, kName, "counter", "Requests answered, by result, and if they failed, by why.");
  for (std::size_t tag = 0; tag < kTags; ++tag) {
    // These have their causes as labels: with both, a sum over all labels would count them twice.
    if (static_cast<Tag>(tag) == Tag::failed) continue;
    labelled(out, kName, "result", metric_tag(static_cast<Tag>(tag)),
             metrics.sum(&ThreadCounters::requests, tag));
  }
  for (std::size_t cause = 0; cause <= upstream::kFailures; ++cause) {
    const auto what = static_cast<upstream::Failure::What>(cause);
    if (what == upstream::Failure::What::denied) continue;  // has a result of its own
    fmt::format_to(std::back_inserter(out), "{}{{result=\"{}\",why=\"{}\"}} {}\n", kName,
                   metric_tag(Tag::failed),
                   cause == upstream::kFailures ? "parent" : upstream::word(what),
                   metrics.sum(&ThreadCounters::failed, cause));
  }
}

void append_bodies(std::string& out, const Metrics& metrics) {
  constexpr std::string_view kName = "hearsay_body_bytes_total";
  describe(out, kName, "counter", "Bytes of bodies, by where they came from.");
  labelled(out, kName, "source", "cache", metrics.sum(&ThreadCounters::bytes_from_cache));
  for (const auto& [source, hierarchy] : kSources) {
    labelled(out, kName, "source", source,
             metrics.sum(&ThreadCounters::upstream_bytes, static_cast<std::size_t>(hierarchy)));
  }
}

void append_cuts(std::string& out, const Metrics& metrics) {
  constexpr std::string_view kName = "hearsay_cuts_total";
  describe(out, kName, "counter", "Connections ended because their client took long, by why.");
  // From 1 on: 0 stands for no cut.
  for (std::size_t why = 1; why < kCuts; ++why) {
    labelled(out, kName, "why", word(static_cast<Cut>(why)),
             metrics.sum(&ThreadCounters::cuts, why));
  }
}

void append_digests(std::string& out, const Metrics& metrics) {
  for (const auto& [name, help, count] : kDigests) {
    describe(out, name, "counter", help);
    for (const auto form : {ServedForm::native, ServedForm::squid}) {
      const auto at = static_cast<std::size_t>(form);
      labelled(out, name, "form", form == ServedForm::native ? "native" : "squid",
               metrics.sum([at, of = count](const ThreadCounters& c) -> const Count& {
                 return c.digests_sent[at].*of;
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
  constexpr std::string_view kLists = "hearsay_list_entries";
  describe(out, kLists, "gauge", "Distinct entries of access.block and .allow.");
  labelled(out, kLists, "list", "block", now.block_entries);
  labelled(out, kLists, "list", "allow", now.allow_entries);
}

void append_times(std::string& out, const Metrics& metrics, std::string_view name,
                  std::string_view help, Histogram RequestTimes::*which) {
  describe(out, name, "histogram", help);
  for (std::size_t at = 0; at < kRequestOutcomes; ++at) {
    const auto outcome = static_cast<RequestOutcome>(at);
    append_samples(out, name, fmt::format("outcome=\"{}\"", word(outcome)),
                   metrics.times(outcome, which));
  }
}

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

Histogram::Reading Metrics::times(RequestOutcome of, Histogram RequestTimes::*which) const {
  Histogram::Reading all;
  for (const auto& counters : of_threads_) {
    // Without a lock: each number is right, and the sum may lack what ends meanwhile.
    all.add(counters.times[static_cast<std::size_t>(of)].*which);
  }
  return all;
}

void Metrics::append_text(std::string& out, const Gauges& gauges) const {
  append_requests(out, *this);
  append_bodies(out, *this);
  for (const auto& [name, help, count] : kCounters) single(out, name, "counter", help, sum(count));
  append_cuts(out, *this);
  append_digests(out, *this);
  append_gauges(out, gauges);
}

std::size_t cause_of(std::string_view failure) {
  // A search, but only for requests that failed. A record holds the word, as logs do.
  for (std::size_t what = 0; what < upstream::kFailures; ++what) {
    if (upstream::word(static_cast<upstream::Failure::What>(what)) == failure) return what;
  }
  return upstream::kFailures;
}

void count_request(ThreadCounters& counters, const RequestRecord& record,
                   std::chrono::steady_clock::time_point now) {
  counters.requests[static_cast<std::size_t>(record.tag)].add();
  if (record.tag == Tag::failed) counters.failed[cause_of(record.failure)].add();
  counters.bytes_sent.add(record.bytes);
  if (record.aborted) counters.aborted.add();
  // Whoever watches the classes wants to know what browsers got. A neighbour's question is none of
  // theirs.
  if (!record.question) {
    counters.by_class[std::min<std::size_t>(record.status / 100, kStatusClasses - 1)].add();
  }
  const auto outcome = outcome_of(record);
  if (!outcome || record.first_byte < record.begun) return;  // nothing was sent
  auto& times = counters.times[static_cast<std::size_t>(*outcome)];
  times.first_byte.add(record.first_byte - record.begun);
  times.total.add(now - record.begun);
}

void append_request_metrics(std::string& out, const Metrics& metrics) {
  constexpr std::string_view kClasses = "hearsay_responses_total";
  describe(out, kClasses, "counter",
           "Responses sent, by class of their status; without questions of neighbours.");
  for (std::size_t digit = 1; digit < kStatusClasses; ++digit) {
    labelled(out, kClasses, "class", fmt::format("{}xx", digit),
             metrics.sum(&ThreadCounters::by_class, digit));
  }
  append_times(out, metrics, "hearsay_request_first_byte_seconds",
               "From the end of a request's head to the head of its response, by who answered.",
               &RequestTimes::first_byte);
  append_times(out, metrics, "hearsay_request_duration_seconds",
               "From the end of a request's head to the end of its response, by who answered.",
               &RequestTimes::total);
  constexpr std::string_view kNotStored = "hearsay_not_stored_total";
  describe(out, kNotStored, "counter",
           "Responses that were not stored, by reason, as Cache-Status spells it.");
  for (std::size_t why = 1; why < cache::kStorabilities; ++why) {
    labelled(out, kNotStored, "reason", text(static_cast<cache::Storability>(why)),
             metrics.sum(&ThreadCounters::not_stored, why));
  }
}

// The count is that of the buckets, so that the samples agree while threads count on.
void append_samples(std::string& out, std::string_view name, std::string_view labels,
                    const Histogram::Reading& reading) {
  const auto at = std::back_inserter(out);
  std::uint64_t up_to = 0;
  for (std::size_t i = 0; i < Histogram::kBounds.size(); ++i) {
    // Prometheus' buckets are cumulative: each counts all times up to its bound.
    up_to += reading.in_bucket[i];
    fmt::format_to(at, "{}_bucket{{{},le=\"{}\"}} {}\n", name, labels,
                   seconds(Histogram::kBounds[i]), up_to);
  }
  up_to += reading.in_bucket.back();
  fmt::format_to(at,
                 "{0}_bucket{{{1},le=\"+Inf\"}} {2}\n{0}_sum{{{1}}} {3}\n{0}_count{{{1}}} {2}\n",
                 name, labels, up_to, seconds(reading.sum));
}

}  // namespace proxy::observe
