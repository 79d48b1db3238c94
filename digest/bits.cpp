#include "digest/bits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace digest {

std::uint64_t count_bits(std::span<const std::uint8_t> bytes) {
  std::uint64_t count = 0;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    count += static_cast<unsigned>(std::popcount(word));
  }
  for (const std::uint8_t byte : bytes) count += static_cast<unsigned>(std::popcount(byte));
  return count;
}

bool has_stray_bits(const Shape& shape, std::span<const std::uint8_t> bytes) {
  const auto used = static_cast<unsigned>(shape.bits & 7);
  return used != 0 && (bytes.back() >> used) != 0;
}

double observed_false_positive_rate(const Shape& shape, std::uint64_t bits_set) {
  return std::pow(static_cast<double>(bits_set) / static_cast<double>(shape.bits), shape.hashes);
}

double estimated_keys(const Shape& shape, std::uint64_t bits_set) {
  const bool plain = shape.layout == Layout::plain;
  const auto bits = static_cast<double>(shape.bits);
  const double choices = plain ? bits : bits / shape.hashes;
  const double draws = plain ? shape.hashes : 1;
  const auto set = static_cast<double>(std::min(bits_set, shape.bits - 1));
  // If a hash has a single bit to choose from, one key sets it, and so do many.
  if (choices == 1) return bits_set == 0 ? 0 : 1;
  return std::log1p(-set / bits) / (draws * std::log1p(-1 / choices));
}

}  // namespace digest
