#include "proxy/observe/request_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "proxy/observe/exposition.hpp"

namespace proxy {
namespace {

constexpr unsigned kSwitchingProtocols = 101;

RequestOutcome outcome_by(Hierarchy hierarchy) {
  switch (hierarchy) {
    case Hierarchy::sibling:
    case Hierarchy::parent_hit:
      return RequestOutcome::neighbour;
    case Hierarchy::parent:
      return RequestOutcome::parent;
    case Hierarchy::none:
    case Hierarchy::direct:
      break;
  }
  return RequestOutcome::origin;
}

void append_classes(std::string& out, const Metrics& metrics) {
  describe(out, "hearsay_responses_total", "counter",
           "Responses sent, by class of their status; without questions of neighbours.");
  for (std::size_t digit = 1; digit < kStatusClasses; ++digit) {
    fmt::format_to(std::back_inserter(out), "hearsay_responses_total{{class=\"{}xx\"}} {}\n", digit,
                   metrics.sum([digit](const ThreadCounters& of_thread) -> const Count& {
                     return of_thread.by_class[digit];
                   }));
  }
}

void append_times(std::string& out, const Metrics& metrics, std::string_view name,
                  std::string_view help, Histogram RequestTimes::*of) {
  describe(out, name, "histogram", help);
  for (std::size_t outcome = 0; outcome < kRequestOutcomes; ++outcome) {
    Histogram::Reading all;
    metrics.each([&](const ThreadCounters& of_thread) { all.add(of_thread.times[outcome].*of); });
    const auto label = fmt::format("outcome=\"{}\"", word(static_cast<RequestOutcome>(outcome)));
    append_samples(out, name, label, all);
  }
}

void append_not_stored(std::string& out, const Metrics& metrics) {
  describe(out, "hearsay_not_stored_total", "counter",
           "Responses that were not stored, by reason, as Cache-Status spells it.");
  for (std::size_t why = 1; why < cache::kStorabilities; ++why) {
    fmt::format_to(std::back_inserter(out), "hearsay_not_stored_total{{reason=\"{}\"}} {}\n",
                   text(static_cast<cache::Storability>(why)),
                   metrics.sum([why](const ThreadCounters& of_thread) -> const Count& {
                     return of_thread.not_stored[why];
                   }));
  }
}

}  // namespace

std::optional<RequestOutcome> outcome_of(const RequestRecord& record) {
  switch (record.tag) {
    case Tag::mem_hit:
      return RequestOutcome::hit;
    case Tag::disk_hit:
      return RequestOutcome::disk_hit;
    case Tag::conditional_hit:
      return record.from_disk ? RequestOutcome::disk_hit : RequestOutcome::hit;
    case Tag::failed:
      return RequestOutcome::failed;
    case Tag::miss:  // without a source: only stored responses were asked for
      if (record.hierarchy == Hierarchy::none) return std::nullopt;
      [[fallthrough]];
    case Tag::client_refresh:
    case Tag::refresh_unmodified:
    case Tag::refresh_modified:
    case Tag::stale_hit:
      if (record.status == kSwitchingProtocols) return std::nullopt;
      return outcome_by(record.hierarchy);
    case Tag::none:
    case Tag::denied:
    case Tag::tunnel:
    case Tag::own_page:
    case Tag::purge:
    case Tag::site_question:
      break;
  }
  return std::nullopt;
}

std::size_t cause_of(std::string_view failure) {
  for (std::size_t what = 0; what < kFailures; ++what) {
    if (word(static_cast<Failure::What>(what)) == failure) return what;
  }
  return kFailures;
}

void count_request(ThreadCounters& counters, const RequestRecord& record,
                   std::chrono::steady_clock::time_point now) {
  counters.requests[static_cast<std::size_t>(record.tag)].add();
  if (record.tag == Tag::failed) counters.failed[cause_of(record.failure)].add();
  counters.bytes_sent.add(record.bytes);
  if (record.aborted) counters.aborted.add();
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
  append_classes(out, metrics);
  append_times(out, metrics, "hearsay_request_first_byte_seconds",
               "From the end of a request's head to the head of its response, by who answered.",
               &RequestTimes::first_byte);
  append_times(out, metrics, "hearsay_request_duration_seconds",
               "From the end of a request's head to the end of its response, by who answered.",
               &RequestTimes::total);
  append_not_stored(out, metrics);
}

}  // namespace proxy
