// How large a Bloom filter must be and how often it is wrong: formulae and their inverses.
//
// bits is m, entries n, hashes k, rate p. Every formula stands beside its inverse. Arguments out of
// range are errors, and so are results that no filter can have. The last part makes shapes.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <string_view>

#include "digest/shape.hpp"

namespace digest {

enum class SizingError : std::uint8_t {
  no_bits,
  no_entries,
  no_hashes,
  rate_out_of_range,  // a rate must be above 0 and below 1
  too_large,          // more than kMaxBits or kMaxHashes
  rate_too_low,       // no number of hashes reaches it with this few bits
};

std::string_view to_string(SizingError error);

template <class T>
using Sized = boost::system::result<T, SizingError>;

// p from m, n, k.

// The probability that a key which was never inserted is claimed after `entries` distinct ones were
// inserted: (1 - (1 - 1/m)^(kn))^k (Bloom 1970; exact if positions are independent).
Sized<double> false_positive_rate(std::uint64_t bits, std::uint64_t entries, std::uint32_t hashes);

// Its inverses. Bits, rounded up: m = 1 / (1 - (1 - p^(1/k))^(1/(kn))). Entries, rounded down so
// that the rate is not exceeded: n = ln(1 - p^(1/k)) / (k ln(1 - 1/m)).
Sized<std::uint64_t> bits_for(std::uint64_t entries, double rate, std::uint32_t hashes);
Sized<std::uint64_t> capacity_for(std::uint64_t bits, double rate, std::uint32_t hashes);

// The same for large filters: (1 - e^(-kn/m))^k (Fan, Cao, Almeida, Broder 2000).
Sized<double> approximate_false_positive_rate(std::uint64_t bits, std::uint64_t entries,
                                              std::uint32_t hashes);

// The same by m/n: (1 - e^(-k / (m/n)))^k; its inverse, m/n = -k / ln(1 - p^(1/k)).
Sized<double> rate_at(double bits_per_entry, std::uint32_t hashes);
Sized<double> bits_per_entry_for(double rate, std::uint32_t hashes);

// bits_per_entry_for() without a logarithm: m/n = 2k / (2c + c^2) with c = p^(1/k), from the first
// two terms of -ln(1 - c) (Fan et al.). The result is slightly greater than that of
// bits_per_entry_for(), and close to it if c is small.
//
// short_rate_at() is the exact inverse: c = sqrt(1 + 2k / (m/n)) - 1, p = c^k. If c is 1 or more,
// returns rate_out_of_range.
Sized<double> short_bits_per_entry_for(double rate, std::uint32_t hashes);
Sized<double> short_rate_at(double bits_per_entry, std::uint32_t hashes);

// The best k.

// (m/n) ln 2, at which half of the bits are set (Bloom 1970); its inverse, m/n = k / ln 2.
Sized<double> ideal_hashes(double bits_per_entry);
Sized<double> ideal_bits_per_entry(std::uint32_t hashes);

// The neighbouring whole number with the lower rate, from 1 to kMaxHashes; the smaller one on a
// tie, as it is less work.
Sized<std::uint32_t> optimal_hashes(std::uint64_t bits, std::uint64_t entries);

// The ideal number for a rate: log2(1/p); its inverse, 2^-k.
Sized<double> ideal_hashes_for(double rate);
Sized<double> ideal_rate(std::uint32_t hashes);

// m, n and p at the best k.

// 0.6185^(m/n) = e^(-(m/n) (ln 2)^2) (Fan et al.); its inverse, m/n = -ln p / (ln 2)^2.
Sized<double> best_rate_at(double bits_per_entry);
Sized<double> bits_per_entry_for(double rate);

// Bits that hold `entries` at this rate, rounded up: -n ln p / (ln 2)^2.
Sized<std::uint64_t> bits_for(std::uint64_t entries, double rate);

// Answers the operator's question how many entries a filter of this size holds before it exceeds
// the rate, rounded down.
Sized<std::uint64_t> capacity_for(std::uint64_t bits, double rate);

// Bounds.

// The fewest bits that any set summary needs: n log2(1/p), rounded up (Carter, Floyd, Gill,
// Markowsky, Wegman 1978). A Bloom filter needs kBloomOverhead times as many. The inverse is the
// lowest rate that any summary of this many bits can have, 2^(-m/n).
Sized<std::uint64_t> least_bits_for(std::uint64_t entries, double rate);
Sized<double> least_rate(std::uint64_t bits, std::uint64_t entries);
inline constexpr double kBloomOverhead = 1.4426950408889634;  // log2(e)

// A bound on the probability that any of m 4-bit counters exceeds 15 while the filter holds at most
// as many keys as the best k is for: 1.37e-15 m (Fan et al., section V.C). Its inverse is the most
// counters for a given probability.
Sized<double> overflow_bound(std::uint64_t counters);
Sized<std::uint64_t> counters_for_overflow(double chance);

// Shapes.
//
// The formulae above assume that the positions of a key are independent. Those of double
// hashing form an arithmetic progression, so a filter is also wrong if a key's progression runs
// along that of an inserted key, forward or backward, or falls on few distinct positions. More
// hashes do not make either case rarer: with m bits and n entries the two add up to at most about 5
// n / m^2 (Dillinger and Manolios 2004 and Kirsch and Mitzenmacher 2006, section 5, find a term of
// this order; measured with 2 to 30 hashes: 1 to 3 if few of the bits are set, up to 5 if half of
// them are). This is negligible with many entries, but is the whole rate if there are few entries
// or the rate is very low. Every shape below that is made for a rate takes it into account.

// 0.314 % false positives when full: the choice of Fan, Cao, Almeida and Broder (2000), and ours
// between neighbours.
inline constexpr double kDefaultBitsPerEntry = 12;
inline constexpr std::uint32_t kDefaultHashes = 8;

// The smallest filter has 512 bytes: below that, two progressions overlap too often for any such
// bound.
inline constexpr std::uint64_t kLeastBits = 4096;

// The bits and the hashes that a filter spends on each of its entries, whatever its capacity.
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
// Returns the shape for a rate with a given number of hashes.
Sized<Shape> shape_for(std::uint64_t capacity, double rate, std::uint32_t hashes);

// Returns the shape in slices, with as many more bits as make the slices even (fewer than one per
// hash). Its rate is higher by a share of about hashes^2 / bits.
Sized<Shape> partitioned(Shape plain);

}  // namespace digest
