// How large a Bloom filter must be and how often it will be wrong: formulae and inverses.
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
  rate_out_of_range,  // a rate is above 0 and below 1
  too_large,          // more than kMaxBits or kMaxHashes
};

std::string_view to_string(SizingError error);

template <class T>
using Sized = boost::system::result<T, SizingError>;

// The chance that a key never inserted is claimed, after `entries` distinct ones were:
// (1 - (1 - 1/bits)^(hashes * entries))^hashes (Bloom 1970; exact but for positions that depend on
// each other).
Sized<double> false_positive_rate(std::uint64_t bits, std::uint64_t entries, std::uint32_t hashes);

// The same for large filters: (1 - e^(-hashes * entries / bits))^hashes (Fan, Cao, Almeida, Broder
// 2000).
Sized<double> approximate_false_positive_rate(std::uint64_t bits, std::uint64_t entries,
                                              std::uint32_t hashes);

// The whole number beside (bits / entries) ln 2 that gives the lower rate, the smaller one on a tie
// (less work); from 1 to kMaxHashes.
Sized<std::uint32_t> optimal_hashes(std::uint64_t bits, std::uint64_t entries);

// Bits that hold `entries` at this rate with the best number of hashes, rounded up:
// -entries ln(rate) / (ln 2)^2.
Sized<std::uint64_t> bits_for(std::uint64_t entries, double rate);

// Its inverse: how many entries such a filter takes before the rate is passed, rounded down.
Sized<std::uint64_t> capacity_for(std::uint64_t bits, double rate);

}  // namespace digest
