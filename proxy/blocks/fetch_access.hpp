// What one I/O thread needs to fetch bodies, and to keep them or pass them on.
#pragma once

#include <string>

#include "proxy/blocks/block_runs.hpp"
#include "proxy/sources/source_access.hpp"
#include "proxy/upstream/origin_health.hpp"

namespace proxy::blocks {

// Belongs to one I/O thread, and outlives all that it fetches. What it refers to but `sources` and
// `counters` is shared by all threads.
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
