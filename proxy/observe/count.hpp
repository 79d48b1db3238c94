// Counters and histograms that one thread writes and any thread reads.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace proxy::observe {

class Count {
 public:
  void add(std::uint64_t n = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// Counts durations in the fixed buckets of a Prometheus histogram. add() costs a few comparisons
// and two stores: short times, such as those of hits, are found first.
class Histogram {
 public:
  using Time = std::chrono::nanoseconds;
  // Upper bounds, inclusive. Times above the last one have a bucket of their own.
  static constexpr std::array<std::chrono::microseconds, 16> kBounds = [] {
    std::array<std::chrono::microseconds, 16> bounds{};
    std::size_t at = 0;
    for (const int bound : {50, 100, 250, 500, 1'000, 2'500, 5'000, 10'000, 25'000, 50'000, 100'000,
                            250'000, 1'000'000, 2'500'000, 10'000'000, 60'000'000}) {
      bounds[at++] = std::chrono::microseconds(bound);
    }
    return bounds;
  }();

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

    void add(const Histogram& other) {
      for (std::size_t i = 0; i < in_bucket.size(); ++i) in_bucket[i] += other.in_bucket_[i].get();
      sum += Time(other.sum_.get());
    }
  };

 private:
  std::array<Count, kBounds.size() + 1> in_bucket_;
  Count sum_;  // nanoseconds
};

}  // namespace proxy::observe
