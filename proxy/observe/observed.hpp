// What was seen of this proxy's work: for the log, the pages and the watchers.
#pragma once

#include "config/settings.hpp"
#include "proxy/observe/access_log.hpp"
#include "proxy/observe/fault.hpp"
#include "proxy/observe/history.hpp"
#include "proxy/observe/metrics.hpp"
#include "proxy/observe/mirror_traffic.hpp"
#include "proxy/observe/process_facts.hpp"
#include "proxy/observe/recent_requests.hpp"
#include "proxy/observe/refused_neighbours.hpp"

namespace proxy::observe {

class DiskWatch;

// What all threads have seen. Any thread may use it; it outlives them.
struct Observed {
  Observed(const config::LogSettings& settings, std::size_t threads, machine::Clock& clock)
      : metrics(threads), log(settings, threads, clock) {}

  Metrics metrics;
  AccessLog log;
  History history{};
  RecentRequests recent{};
  Busiest busiest{};
  FirstSeen first_seen{};  // the troubles of /health
  RefusedNeighbours refused_neighbours{};
  MirrorTraffic mirrors{};
  Fault settings_fault{};  // the last reload has failed
  StuckThreads stuck{};
  const DiskWatch* disk_watch = nullptr;
  const ProcessFacts* facts = nullptr;  // null: unknown
};

// Where one thread writes what it sees.
struct ObservedByThread {
  ObservedByThread(Observed& all, std::size_t number)
      : counters(all.metrics.of_thread(number)),
        log(all.log.of_thread(number)),
        recent(all.recent.add_thread()) {}

  ThreadCounters& counters;
  AccessLog::Lines& log;
  RecentRequests::OfThread& recent;
};

}  // namespace proxy::observe
