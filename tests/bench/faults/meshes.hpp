// Measurements that need real neighbours.
#pragma once

#include <chrono>
#include <cstddef>

#include "tests/bench/faults/open_loop.hpp"
#include "tests/bench/faults/rows.hpp"

namespace bench {

struct Stopped {
  Figures figures;  // of all requests, before, during and after the stop
  // From the time it went on to its first answer that a client got; negative if there was none
  // within a minute.
  double until_first_hit_s = -1;
};

// A neighbour holds every URL. It is stopped (SIGSTOP) for this time, and goes on.
Stopped measure_stop(std::chrono::seconds stop, double rate);

// Asks so many proxies for each of `objects` new objects, evenly within this time. Returns the
// requests to the origin, 80 ms away, for each object.
double origin_fetches(std::size_t proxies, std::chrono::milliseconds within, std::size_t objects);

struct Idle {
  double cpu_percent = 0;       // of a core, all proxies together
  double bytes_per_second = 0;  // on the whole loopback, in one direction: run it alone
};

// A mesh in which nobody asks for anything. Each proxy has so many peers more, which are dead.
Idle measure_idle(std::size_t proxies, std::size_t dead, std::chrono::seconds time);

}  // namespace bench
