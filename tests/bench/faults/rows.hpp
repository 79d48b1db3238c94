// The rows of the table: what is measured beside which neighbours.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "tests/bench/faults/open_loop.hpp"
#include "tests/bench/faults/played_server.hpp"

namespace bench {

struct Load {
  double seconds = 60;
  double rate = 40;  // requests a second
};

struct Row {
  const char* name;
  std::chrono::milliseconds to_origin{2};
  // What the neighbours answer, all of which claim every URL. `proxy`: the port of the proxy that
  // asks them, once it is known.
  std::function<std::vector<Answer>(const std::atomic<std::uint16_t>& proxy)> neighbours = {};
  bool black_hole = false;  // the neighbours drop SYNs once their digests are in use
  std::size_t burst = 1;    // so many requests are due at the same time
  std::size_t body = 2048;  // bytes
  double rate = 1;          // share of the load's rate
};

// All rows. A row without peers comes before the rows that are compared with it.
std::vector<Row> all_rows();

// So many neighbours that answer equally fast.
Row row_of_equals(std::size_t claimants);

struct Measured {
  Figures figures;
  std::uint64_t to_origin = 0;  // requests
  double busiest = 0;           // share of all questions to neighbours that one of them got
};

// Every URL is asked for once.
Measured measure(const Row& row, const Load& load);

}  // namespace bench
