// What one I/O thread needs to fetch bodies, and to keep them or pass them on.
#pragma once

#include <string>

#include "proxy/blocks/block_runs.hpp"
#include "proxy/observe/metrics.hpp"
#include "proxy/sources/source_access.hpp"
#include "proxy/upstream/origin_health.hpp"

namespace proxy::blocks {

// What a fetch needs of its I/O thread, which outlives the fetch. All threads share what this
// refers to, except `sources` and `counters`.
struct FetchAccess {
  sources::SourceAccess& sources;
  BlockRuns& runs;
  cache::Budget& transit;  // of bodies that are passed on unstored
  upstream::RangeRefusals& range_refusals;
  observe::ThreadCounters& counters;

  [[nodiscard]] tiers::CacheAccess& cached() const { return sources.cache; }
  [[nodiscard]] tiers::Cache& cache() const { return sources.cache.cache; }
  [[nodiscard]] machine::Clock& clock() const { return cache().clock; }
  [[nodiscard]] const net::Executor& executor() const { return sources.executor; }
  [[nodiscard]] const std::string& name() const { return sources.shared.name; }  // of this proxy
};

}  // namespace proxy::blocks
