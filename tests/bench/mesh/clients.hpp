// The clients of a mesh.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tests/bench/mesh/mesh.hpp"
#include "tests/bench/mesh/workload.hpp"

namespace bench {

struct Outcome {
  std::atomic<std::size_t> local_hits = 0;  // as the proxy says
  std::atomic<std::size_t> peer_hits = 0;
  // Requests that were cut because their own proxy was killed. Each was asked again, and only that
  // counts.
  std::atomic<std::size_t> cut = 0;
  std::atomic<std::size_t> errors = 0;
  // Of requests whose own proxy served all the time.
  std::atomic<std::size_t> over_100_ms = 0;
  std::atomic<std::int64_t> slowest_ms = 0;
};

// Sends each request at its scheduled time, or as soon afterwards as a client is free. Returns when
// all are answered.
void play(const Mesh& mesh, std::span<const Ask> asks, double rate, Outcome& outcome);

}  // namespace bench
