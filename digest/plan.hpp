// Shapes for what a filter is to hold and how often it may be wrong.
#pragma once

#include <cstdint>

#include "digest/shape.hpp"
#include "digest/sizing.hpp"

namespace digest {

// 0.314 % when full: the choice of Fan, Cao, Almeida and Broder (2000), and ours between
// neighbours.
inline constexpr double kDefaultBitsPerEntry = 12;
inline constexpr std::uint32_t kDefaultHashes = 8;

// How much a filter spends on each of its entries; the capacity is left open.
struct Ratio {
  double bits_per_entry = kDefaultBitsPerEntry;
  std::uint32_t hashes = kDefaultHashes;
};

// Within so many bits per entry, the fewest hashes that keep the rate, and no more bits than those
// need. rate_too_low if no number of hashes does.
Sized<Ratio> ratio_for(double rate, double most_bits_per_entry);

// All below give plain shapes with double hashing whose predicted rate, when they hold `capacity`
// distinct keys, is at most the one asked for. A capacity of 0 is an error.
Sized<Shape> shape_for(std::uint64_t capacity, Ratio ratio = {});
// The smallest.
Sized<Shape> shape_for(std::uint64_t capacity, double rate);
// The smallest with so many hashes.
Sized<Shape> shape_for(std::uint64_t capacity, double rate, std::uint32_t hashes);

// The same in slices, with as few more bits as make them even (less than one per hash). Its rate is
// higher by a share of about hashes^2 / bits.
Sized<Shape> partitioned(Shape plain);

}  // namespace digest
