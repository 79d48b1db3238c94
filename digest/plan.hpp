// Computes shapes from the number of keys and the false-positive rate.
//
// The formulae of sizing.hpp assume that the positions of a key are independent. Those of double
// hashing form an arithmetic progression, so a filter is also wrong if a key's progression runs
// along that of an inserted key, forward or backward, or falls on few distinct positions. More
// hashes do not make either case rarer: with m bits and n entries the two add up to at most about 5
// n / m^2 (Dillinger and Manolios 2004 and Kirsch and Mitzenmacher 2006, section 5, find a term of
// this order; measured with 2 to 30 hashes: 1 to 3 if few of the bits are set, up to 5 if half of
// them are). This is negligible with many entries, but is the whole rate if there are few entries
// or the rate is very low. Every shape below that is made for a rate takes it into account.
#pragma once

#include <cstdint>

#include "digest/shape.hpp"
#include "digest/sizing.hpp"

namespace digest {

// 0.314 % false positives when full: the choice of Fan, Cao, Almeida and Broder (2000), and ours
// between neighbours.
inline constexpr double kDefaultBitsPerEntry = 12;
inline constexpr std::uint32_t kDefaultHashes = 8;

// The smallest filter has 512 bytes: below that, two progressions overlap too often for any such
// bound.
inline constexpr std::uint64_t kLeastBits = 4096;

// What a filter spends on each of its entries, whatever its capacity.
struct Ratio {
  double bits_per_entry = kDefaultBitsPerEntry;
  std::uint32_t hashes = kDefaultHashes;
};

// Returns the fewest hashes that keep the rate with at most this many bits per entry, and only as
// many bits as those hashes need. rate_too_low if no number of hashes keeps it.
Sized<Ratio> ratio_for(double rate, double most_bits_per_entry);

// Returns this many bits per entry, and the hashes that give the lowest rate with them.
Sized<Ratio> best_ratio(double bits_per_entry);

// The most that dependent positions add to false_positive_rate() in a plain filter with double
// hashing: 5 n / m^2, or nothing if there is only one hash.
Sized<double> dependence(std::uint64_t bits, std::uint64_t entries, std::uint32_t hashes);

// All below return plain shapes with double hashing for `capacity` distinct keys, of at least
// kLeastBits. A capacity of 0 is an error.
Sized<Shape> shape_for(std::uint64_t capacity, Ratio ratio = {});
// The smallest shape whose false_positive_rate() plus dependence() is at most `rate` when it is
// full, with the fewest hashes that achieve it.
Sized<Shape> shape_for(std::uint64_t capacity, double rate);
// The same with a given number of hashes.
Sized<Shape> shape_for(std::uint64_t capacity, double rate, std::uint32_t hashes);

// The same shape in slices, with as many more bits as make the slices even (fewer than one per
// hash). Its rate is higher by a share of about hashes^2 / bits.
Sized<Shape> partitioned(Shape plain);

}  // namespace digest
