#include "tests/proxy/cache/hit_ratio.hpp"

#include <gtest/gtest.h>

namespace proxy::cache {
namespace {

struct TraceCase {
  const char* name;
  bench::Trace (*make)(const bench::TraceShape&);
  // Least gain over LRU in percentage points, at 1 % and 10 % of the footprint: well below the
  // least of 12 seeds.
  double least_gain[2];
};

class HitRatio : public ::testing::TestWithParam<TraceCase> {};

// A small trace; hit_ratio_bench uses larger ones.
TEST_P(HitRatio, IsAboveThatOfLru) {
  const Workload work(GetParam().make({.requests = 12'000, .popular = 1'500}));
  const std::uint64_t hundredth = work.footprint() / 100;
  const double little = work.store_hits(hundredth) - work.lru_hits(hundredth);
  EXPECT_GT(little, GetParam().least_gain[0]);
  const double more = work.store_hits(10 * hundredth) - work.lru_hits(10 * hundredth);
  EXPECT_GT(more, GetParam().least_gain[1]);
}

INSTANTIATE_TEST_SUITE_P(OnTraces, HitRatio,
                         ::testing::Values(TraceCase{"Zipf", bench::zipf_trace, {1, 2}},
                                           TraceCase{"Scan", bench::scan_trace, {3, 2}},
                                           TraceCase{"Mixed", bench::mixed_trace, {2, 2}}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace proxy::cache
