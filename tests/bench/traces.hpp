// Synthetic request traces. The same seed always gives the same trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "tests/bench/zipf.hpp"

namespace bench {

// The number of the object that each request asks for, below `objects`. Some numbers may never
// occur.
struct Trace {
  std::string_view name;
  std::vector<std::uint32_t> requests;
  std::uint32_t objects = 0;
};

struct TraceShape {
  std::uint32_t requests = 1'000'000;
  std::uint32_t popular = 100'000;  // objects requested by Zipf's law
  double alpha = 0.9;               // proxies: 0.64 to 0.83 (Breslau 1999); CDNs today: up to 1
  std::uint64_t seed = 1;
};

inline Trace zipf_trace(const TraceShape& shape) {
  std::mt19937_64 random(shape.seed);
  const Zipf zipf(shape.popular, shape.alpha);
  Trace trace{"zipf", {}, shape.popular};
  while (trace.requests.size() < shape.requests) {
    trace.requests.push_back(static_cast<std::uint32_t>(zipf(random)));
  }
  return trace;
}

// Half of the requests are those of a mirror run or a crawler: runs of objects that are never
// requested again. Each run is a hundredth of the trace.
inline Trace scan_trace(const TraceShape& shape) {
  std::mt19937_64 random(shape.seed);
  const Zipf zipf(shape.popular, shape.alpha);
  const std::uint32_t stretch = shape.requests / 100;
  Trace trace{"scan-heavy", {}, shape.popular};
  while (trace.requests.size() < shape.requests) {
    for (std::uint32_t i = 0; i < stretch; ++i) {
      trace.requests.push_back(static_cast<std::uint32_t>(zipf(random)));
    }
    for (std::uint32_t i = 0; i < stretch; ++i) trace.requests.push_back(trace.objects++);
  }
  return trace;
}

// Popularity changes: half of the popular objects are replaced in the course of the trace. A fifth
// of the requests are for objects requested only once. Twenty times, a whole site (as many objects
// as a hundredth of the popular ones) is requested twice in a row.
inline Trace mixed_trace(const TraceShape& shape) {
  std::mt19937_64 random(shape.seed);
  const Zipf zipf(shape.popular, shape.alpha);
  std::vector<std::uint32_t> ranked(shape.popular);
  for (std::uint32_t i = 0; i < shape.popular; ++i) ranked[i] = i;
  const std::uint32_t site = shape.popular / 100;
  Trace trace{"mixed", {}, shape.popular};
  for (std::uint32_t i = 0; trace.requests.size() < shape.requests; ++i) {
    if (random() % 5 == 0) {
      trace.requests.push_back(trace.objects++);
      continue;
    }
    if (random() % (2 * shape.requests / shape.popular + 1) == 0) {
      ranked[random() % shape.popular] = trace.objects++;
    }
    trace.requests.push_back(ranked[zipf(random)]);
    if (i % (shape.requests / 20) != 0) continue;
    for (std::uint32_t twice = 0; twice < 2; ++twice) {
      for (std::uint32_t n = 0; n < site; ++n) trace.requests.push_back(trace.objects + n);
    }
    trace.objects += site;
  }
  return trace;
}

}  // namespace bench
