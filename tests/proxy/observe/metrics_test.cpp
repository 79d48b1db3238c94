#include "proxy/observe/metrics.hpp"

#include <gtest/gtest.h>

namespace proxy::observe {
namespace {

TEST(Metrics, SumsTheCountersOfAllThreads) {
  Metrics metrics(3);
  metrics.of_thread(0).stored.add();
  metrics.of_thread(2).stored.add(4);
  EXPECT_EQ(metrics.sum(&ThreadCounters::stored), 5U);
}

std::string text_of(const Metrics& metrics, const Gauges& gauges) {
  std::string text;
  metrics.append_text(text, gauges);
  return text;
}

TEST(Metrics, IsPrometheusTextWithHelpAndType) {
  Metrics metrics(1);
  auto& counters = metrics.of_thread(0);
  counters.requests[static_cast<std::size_t>(Tag::mem_hit)].add(2);
  counters.requests[static_cast<std::size_t>(Tag::miss)].add(3);
  counters.failed[static_cast<std::size_t>(upstream::Failure::What::cut)].add(4);
  counters.upstream_bytes[static_cast<std::size_t>(Hierarchy::direct)].add(5);
  counters.upstream_bytes[static_cast<std::size_t>(Hierarchy::sibling)].add(7);
  counters.upstream_bytes[static_cast<std::size_t>(Hierarchy::parent)].add(9);
  counters.bytes_from_cache.add(11);
  counters.bytes_sent.add(13);
  counters.collapsed.add(17);
  counters.aborted.add(19);
  counters.malformed.add(23);
  counters.stored.add(29);
  counters.hedges.add(97);
  counters.blocked.add(30);
  counters.purged.add(89);
  counters.accepted.add(31);
  counters.rejected.add(37);
  counters.cuts[static_cast<std::size_t>(Cut::stalled)].add(91);
  counters.digests_sent[0].requests.add(67);
  counters.digests_sent[0].bytes.add(71);
  counters.digests_sent[1].not_modified.add(73);
  EXPECT_EQ(
      text_of(metrics, {41, 43, 47, 103, 101, 53, 59, 61, 79, 83}),
      R"(# HELP hearsay_requests_total Requests answered, by result, and if they failed, by why.
# TYPE hearsay_requests_total counter
hearsay_requests_total{result="error"} 0
hearsay_requests_total{result="hit"} 2
hearsay_requests_total{result="disk_hit"} 0
hearsay_requests_total{result="conditional_hit"} 0
hearsay_requests_total{result="miss"} 3
hearsay_requests_total{result="client_refresh"} 0
hearsay_requests_total{result="refresh_unmodified"} 0
hearsay_requests_total{result="refresh_modified"} 0
hearsay_requests_total{result="stale_hit"} 0
hearsay_requests_total{result="denied"} 0
hearsay_requests_total{result="tunnel"} 0
hearsay_requests_total{result="own_page"} 0
hearsay_requests_total{result="purge"} 0
hearsay_requests_total{result="site_question"} 0
hearsay_requests_total{result="failed",why="no-address"} 0
hearsay_requests_total{result="failed",why="dns"} 0
hearsay_requests_total{result="failed",why="unreachable"} 0
hearsay_requests_total{result="failed",why="timed-out"} 0
hearsay_requests_total{result="failed",why="cut"} 4
hearsay_requests_total{result="failed",why="malformed"} 0
hearsay_requests_total{result="failed",why="untrusted"} 0
hearsay_requests_total{result="failed",why="abandoned"} 0
hearsay_requests_total{result="failed",why="overload"} 0
hearsay_requests_total{result="failed",why="parent"} 0
# HELP hearsay_body_bytes_total Bytes of bodies, by where they came from.
# TYPE hearsay_body_bytes_total counter
hearsay_body_bytes_total{source="cache"} 11
hearsay_body_bytes_total{source="sibling"} 7
hearsay_body_bytes_total{source="parent_store"} 0
hearsay_body_bytes_total{source="parent"} 9
hearsay_body_bytes_total{source="origin"} 5
# HELP hearsay_sent_bytes_total Bytes sent to clients, heads included.
# TYPE hearsay_sent_bytes_total counter
hearsay_sent_bytes_total 13
# HELP hearsay_collapsed_total Requests answered from another one's fetch.
# TYPE hearsay_collapsed_total counter
hearsay_collapsed_total 17
# HELP hearsay_aborted_total Responses that did not reach their client whole.
# TYPE hearsay_aborted_total counter
hearsay_aborted_total 19
# HELP hearsay_malformed_total Requests refused as malformed.
# TYPE hearsay_malformed_total counter
hearsay_malformed_total 23
# HELP hearsay_stored_total Responses stored.
# TYPE hearsay_stored_total counter
hearsay_stored_total 29
# HELP hearsay_hedges_total Second questions, asked while a neighbour was silent.
# TYPE hearsay_hedges_total counter
hearsay_hedges_total 97
# HELP hearsay_blocked_total Requests refused because of a list (access.block).
# TYPE hearsay_blocked_total counter
hearsay_blocked_total 30
# HELP hearsay_purged_total Responses dropped by PURGE and /admin/purge.
# TYPE hearsay_purged_total counter
hearsay_purged_total 89
# HELP hearsay_connections_accepted_total Client connections accepted.
# TYPE hearsay_connections_accepted_total counter
hearsay_connections_accepted_total 31
# HELP hearsay_connections_rejected_total Client connections over the limit.
# TYPE hearsay_connections_rejected_total counter
hearsay_connections_rejected_total 37
# HELP hearsay_cuts_total Connections ended because their client took long, by why.
# TYPE hearsay_cuts_total counter
hearsay_cuts_total{why="stalled"} 91
hearsay_cuts_total{why="crowded"} 0
hearsay_cuts_total{why="heads"} 0
hearsay_cuts_total{why="slow"} 0
# HELP hearsay_digest_requests_total Requests for our digest.
# TYPE hearsay_digest_requests_total counter
hearsay_digest_requests_total{form="native"} 67
hearsay_digest_requests_total{form="squid"} 0
# HELP hearsay_digest_sent_bytes_total Bytes of our digest sent.
# TYPE hearsay_digest_sent_bytes_total counter
hearsay_digest_sent_bytes_total{form="native"} 71
hearsay_digest_sent_bytes_total{form="squid"} 0
# HELP hearsay_digest_not_modified_total Requests for our digest answered by 304.
# TYPE hearsay_digest_not_modified_total counter
hearsay_digest_not_modified_total{form="native"} 0
hearsay_digest_not_modified_total{form="squid"} 73
# HELP hearsay_connections Client connections open.
# TYPE hearsay_connections gauge
hearsay_connections 41
# HELP hearsay_cache_entries Responses stored in memory.
# TYPE hearsay_cache_entries gauge
hearsay_cache_entries 43
# HELP hearsay_cache_bytes Bytes of stored responses.
# TYPE hearsay_cache_bytes gauge
hearsay_cache_bytes 47
# HELP hearsay_evicted_total Responses that memory gave up to make room.
# TYPE hearsay_evicted_total counter
hearsay_evicted_total 103
# HELP hearsay_evicted_duplicates_total Responses that memory gave up as a sibling keeps them.
# TYPE hearsay_evicted_duplicates_total counter
hearsay_evicted_duplicates_total 101
# HELP hearsay_memory_used_bytes Memory of the cache, responses on their way in included.
# TYPE hearsay_memory_used_bytes gauge
hearsay_memory_used_bytes 53
# HELP hearsay_memory_limit_bytes The setting cache.memory.
# TYPE hearsay_memory_limit_bytes gauge
hearsay_memory_limit_bytes 59
# HELP hearsay_access_log_dropped_total Lines that the access log could not take in time.
# TYPE hearsay_access_log_dropped_total counter
hearsay_access_log_dropped_total 61
# HELP hearsay_list_entries Distinct entries of access.block and .allow.
# TYPE hearsay_list_entries gauge
hearsay_list_entries{list="block"} 79
hearsay_list_entries{list="allow"} 83
)");
}

}  // namespace
}  // namespace proxy::observe
