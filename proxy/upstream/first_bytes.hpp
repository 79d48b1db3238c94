// How long origins took to their first byte, as quantiles need it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace proxy::upstream {

// Counts of times in buckets whose upper bound is at most a quarter above the lower one, from 1 ms
// to a minute. A value.
class FirstBytes {
 public:
  using Time = std::chrono::microseconds;

  // A time below zero counts as zero.
  void add(Time took) { ++in_bucket_[bucket_of(took)]; }
  void add(const FirstBytes& other) {
    for (std::size_t i = 0; i < kBuckets; ++i) in_bucket_[i] += other.in_bucket_[i];
  }
  // The time below which this share of the times lies, interpolated within a bucket. Nothing: no
  // time was added.
  [[nodiscard]] std::optional<Time> quantile(double share) const;

 private:
  static constexpr std::int64_t kUnit = 250;  // microseconds
  // Four of one unit each, then four to each power of two, up to 65 s.
  static constexpr std::size_t kBuckets = 68;

  static std::size_t bucket_of(Time took) {
    const auto units = static_cast<std::uint64_t>(std::max<std::int64_t>(took.count(), 0) / kUnit);
    if (units < 4) return static_cast<std::size_t>(units);
    const auto power = static_cast<std::size_t>(std::bit_width(units)) - 2;  // from 1 on
    return std::min(4 * power + ((units >> (power - 1)) & 3U), kBuckets - 1);
  }
  // Its lower bound, in units.
  static double begin_of(std::size_t bucket) {
    if (bucket < 4) return static_cast<double>(bucket);
    return static_cast<double>((4 + bucket % 4) << (bucket / 4 - 1));
  }

  std::array<std::uint32_t, kBuckets> in_bucket_{};
};

}  // namespace proxy::upstream
