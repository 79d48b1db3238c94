// What one I/O thread needs to ask origins and neighbours.
#pragma once

#include <string>

#include "peers/publisher.hpp"
#include "proxy/fill/site_fetches.hpp"
#include "proxy/net/deadlines.hpp"
#include "proxy/observe/metrics.hpp"
#include "proxy/sources/hedges.hpp"
#include "proxy/sources/origin_times.hpp"
#include "proxy/sources/probes.hpp"
#include "proxy/tiers/cache.hpp"
#include "proxy/upstream/fetch_plan.hpp"
#include "proxy/upstream/guard.hpp"
#include "proxy/upstream/name_health.hpp"
#include "proxy/upstream/origin_clocks.hpp"
#include "proxy/upstream/resolve.hpp"

namespace proxy {

// What all threads share, for their questions. Outlives them.
struct SharedSources {
  const std::string& name;  // of this proxy
  peers::Publisher& publisher;
  SiteFetches& site_fetches;
  upstream::OriginClocks& origin_clocks;
  const upstream::NameHealth& name_health;
};

// Belongs to one I/O thread, and outlives the questions that it asks.
struct SourceAccess {
  const SharedSources shared;
  CacheAccess& cache;
  Upstream& upstream;
  upstream::Guard& guard;
  upstream::Resolver& resolver;
  net::Executor executor;  // of the thread
  Count& second_questions;
  bool has_neighbours = false;  // else nobody asks how long origins take
  OriginTimes origin_times{};
  Hedges hedges{&second_questions};
  Probes probes{};
};

}  // namespace proxy
