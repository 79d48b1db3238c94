// What the bits set in a filter of some shape say about it.
#pragma once

#include <cstdint>
#include <span>

#include "digest/shape.hpp"

namespace digest {

std::uint64_t count_bits(std::span<const std::uint8_t> bytes);

// Bits set beyond the last one of the shape. The bytes are byte_count() of them.
bool has_stray_bits(const Shape& shape, std::span<const std::uint8_t> bytes);

// The chance that a filter with so many bits set claims a key never inserted: fill^hashes.
double observed_false_positive_rate(const Shape& shape, std::uint64_t bits_set);

// How many distinct keys would set this many bits: the inverse of the mean number of bits that n
// keys set (Swamidass and Baldi 2007, for plain filters; a slice is a filter with one hash). A full
// filter has no finite answer: it is given that of a filter with one bit clear, a lower bound.
double estimated_keys(const Shape& shape, std::uint64_t bits_set);

}  // namespace digest
