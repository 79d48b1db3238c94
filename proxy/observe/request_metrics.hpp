// What /metrics tells of requests: how many, how long they took, and what was not stored.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/observe/metrics.hpp"

namespace proxy {

// The histograms in which the times of the request are counted. Nothing: in none, because nobody
// was asked for a response (own pages, refusals, purges), or because the time is the client's
// choice (tunnels).
std::optional<RequestOutcome> outcome_of(const RequestRecord& record);

// The place in ThreadCounters::failed: the Failure::What that RequestRecord::failure spells, else
// kFailures.
std::size_t cause_of(std::string_view failure);

// Counts a request that ended at `now`. For the counters' thread.
void count_request(ThreadCounters& counters, const RequestRecord& record,
                   std::chrono::steady_clock::time_point now);

// Appends, in Prometheus' text format: responses by class of their status, the histograms of the
// time to the first byte and to the last, and what was not stored, by reason. Any thread.
void append_request_metrics(std::string& out, const Metrics& metrics);

}  // namespace proxy
