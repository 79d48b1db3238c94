// Shapes for what a filter is to hold and how often it may be wrong.
//
// The formulae of sizing.hpp take a key's positions for independent. Those of double hashing are an
// arithmetic progression, so that a filter is wrong also where a key's progression runs along that
// of one that is in, forward or backward, or falls into few places. Neither chance falls with more
// hashes: with m bits, n entries they add up to at most about 5 n / m^2 (Dillinger and Manolios
// 2004 and Kirsch and Mitzenmacher 2006, section 5, who find a term of this order; measured with
// 2 to 30 hashes: from 1 to 3 where few of the bits are set, up to 5 where half of them are). It is
// nothing where there are many entries, and all of the rate where there are few or the rate is very
// low. Every shape for a rate below counts it in.
#pragma once

#include <cstdint>

#include "digest/shape.hpp"
#include "digest/sizing.hpp"

namespace digest {

// 0.314 % when full: the choice of Fan, Cao, Almeida and Broder (2000), and ours between
// neighbours.
inline constexpr double kDefaultBitsPerEntry = 12;
inline constexpr std::uint32_t kDefaultHashes = 8;

// At least so many: 512 bytes, below which two progressions share too much for any such bound.
inline constexpr std::uint64_t kLeastBits = 4096;

// How much a filter spends on each of its entries; the capacity is left open.
struct Ratio {
  double bits_per_entry = kDefaultBitsPerEntry;
  std::uint32_t hashes = kDefaultHashes;
};

// Within so many bits per entry, the fewest hashes that keep the rate, and no more bits than those
// need. rate_too_low if no number of hashes does.
Sized<Ratio> ratio_for(double rate, double most_bits_per_entry);

// As many bits per entry, and the hashes that give the lowest rate with them.
Sized<Ratio> best_ratio(double bits_per_entry);

// What positions that depend on each other add to false_positive_rate() in a plain filter with
// double hashing, at most: 5 n / m^2, and nothing to that of a single hash.
Sized<double> dependence(std::uint64_t bits, std::uint64_t entries, std::uint32_t hashes);

// All below give plain shapes with double hashing, for `capacity` distinct keys, of at least
// kLeastBits. A capacity of 0 is an error.
Sized<Shape> shape_for(std::uint64_t capacity, Ratio ratio = {});
// The smallest whose false_positive_rate() and dependence() together are at most `rate` when it is
// full, with the fewest hashes that do.
Sized<Shape> shape_for(std::uint64_t capacity, double rate);
// The same with so many hashes.
Sized<Shape> shape_for(std::uint64_t capacity, double rate, std::uint32_t hashes);

// The same in slices, with as few more bits as make them even (less than one per hash). Its rate is
// higher by a share of about hashes^2 / bits.
Sized<Shape> partitioned(Shape plain);

}  // namespace digest
