// Numbers of a few bits each, packed one after the other into 64-bit words.
#pragma once

#include <cstdint>
#include <span>

namespace digest {

// Reads the `width` bits from position `at` on, the lowest first. `width` is from 1 to 64, and all
// the bits lie within the words.
inline std::uint64_t read_bits(std::span<const std::uint64_t> words, std::uint64_t at,
                               std::uint32_t width) {
  const auto shift = static_cast<unsigned>(at & 63);
  std::uint64_t value = words[at >> 6] >> shift;
  if (shift + width > 64) value |= words[(at >> 6) + 1] << (64 - shift);
  return value & ~std::uint64_t{0} >> (64 - width);
}

// Writes `value`, which must have no more than `width` bits.
inline void write_bits(std::span<std::uint64_t> words, std::uint64_t at, std::uint32_t width,
                       std::uint64_t value) {
  const auto shift = static_cast<unsigned>(at & 63);
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - width);
  std::uint64_t& low = words[at >> 6];
  low = (low & ~(mask << shift)) | value << shift;
  if (shift + width <= 64) return;
  std::uint64_t& high = words[(at >> 6) + 1];
  high = (high & ~(mask >> (64 - shift))) | value >> (64 - shift);
}

}  // namespace digest
