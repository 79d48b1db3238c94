// How often a time was how long: Prometheus histograms with fixed buckets.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/observe/count.hpp"

namespace proxy {

// Written by one thread, read by any. add() costs a few comparisons and two stores: short times,
// such as those of hits, are found first.
class Histogram {
 public:
  using Time = std::chrono::nanoseconds;
  // Upper bounds, inclusive. Times above the last one have a bucket of their own.
  static constexpr std::array<std::chrono::microseconds, 16> kBounds{
      std::chrono::microseconds(50),         std::chrono::microseconds(100),
      std::chrono::microseconds(250),        std::chrono::microseconds(500),
      std::chrono::microseconds(1'000),      std::chrono::microseconds(2'500),
      std::chrono::microseconds(5'000),      std::chrono::microseconds(10'000),
      std::chrono::microseconds(25'000),     std::chrono::microseconds(50'000),
      std::chrono::microseconds(100'000),    std::chrono::microseconds(250'000),
      std::chrono::microseconds(1'000'000),  std::chrono::microseconds(2'500'000),
      std::chrono::microseconds(10'000'000), std::chrono::microseconds(60'000'000)};

  // A time below zero counts as zero.
  void add(Time took) {
    std::size_t bucket = 0;
    while (bucket < kBounds.size() && took > kBounds[bucket]) ++bucket;
    in_bucket_[bucket].add();
    sum_.add(static_cast<std::uint64_t>(std::max(took, Time::zero()).count()));
  }

  // The sum of several histograms.
  struct Reading {
    std::array<std::uint64_t, kBounds.size() + 1> in_bucket{};
    Time sum{};

    void add(const Histogram& other);
  };

 private:
  std::array<Count, kBounds.size() + 1> in_bucket_;
  Count sum_;  // nanoseconds
};

// Appends the samples of one histogram, in seconds: `NAME_bucket{LABELS,le="0.001"} 5`, and so on
// to NAME_count. `labels` has at least one label: `outcome="hit"`.
void append_samples(std::string& out, std::string_view name, std::string_view labels,
                    const Histogram::Reading& reading);

}  // namespace proxy
