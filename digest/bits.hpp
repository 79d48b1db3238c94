// What the number of set bits says about a filter of a given shape.
#pragma once

#include <cstdint>
#include <span>

#include "digest/shape.hpp"

namespace digest {

std::uint64_t count_bits(std::span<const std::uint8_t> bytes);

// Whether a bit is set beyond the last one of the shape. `bytes` must hold shape.byte_count()
// bytes.
bool has_stray_bits(const Shape& shape, std::span<const std::uint8_t> bytes);

// The probability that a filter with `bits_set` bits set claims a key that was never inserted:
// fill^hashes.
double observed_false_positive_rate(const Shape& shape, std::uint64_t bits_set);

// How many distinct keys would set `bits_set` bits: the inverse of the mean number of bits that n
// keys set (Swamidass and Baldi 2007 for plain filters; each slice counts as a filter with one
// hash). A full filter has no finite answer. For it this returns a lower bound: the answer for a
// filter with one bit clear.
double estimated_keys(const Shape& shape, std::uint64_t bits_set);

}  // namespace digest
