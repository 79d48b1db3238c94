// What becomes stale at all proxies of a mesh at about the same time.
#pragma once

#include <chrono>
#include <cstddef>

#include "tests/bench/faults/open_loop.hpp"

namespace bench {

struct Ageing {
  std::chrono::seconds max_age{20};
  std::size_t lifetimes = 5;  // so many times max_age is measured
  std::chrono::milliseconds to_origin{2};
  bool validators = true;  // the origin gives an ETag, and answers 304 by it
};

struct Renewals {
  Figures figures;
  double each = 0;  // origin requests per object and lifetime
};

// Clients ask each of four proxies for each of 20 objects eight times in its lifetime.
Renewals measure_stale_copies(const Ageing& ageing);

}  // namespace bench
