#include "digest/shape.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "digest/little_endian.hpp"

namespace digest {

std::string_view to_string(ShapeError error) {
  static constexpr std::array<std::string_view, 10> kTexts{
      "a filter needs at least one bit",
      "the filter is larger than 512 MiB",
      "a filter needs at least one hash",
      "a filter has at most 32 hashes",
      "a filter in Squid's form has exactly 4 hashes",
      "the slices of a partitioned filter are of one length",
      "a filter in Squid's form is not partitioned",
      "the filters differ in shape",
      "the filter has another length than its shape asks for",
      "bits are set beyond the end of the filter"};
  return text_in(kTexts, error);
}

boost::system::result<Shape, ShapeError> check(const Shape& shape) {
  if (shape.bits == 0) return ShapeError::no_bits;
  if (shape.bits > kMaxBits) return ShapeError::too_many_bits;
  if (shape.hashes == 0) return ShapeError::no_hashes;
  if (shape.hashes > kMaxHashes) return ShapeError::too_many_hashes;
  if (shape.derivation == Derivation::squid_words && shape.hashes != 4) {
    return ShapeError::not_four_hashes;
  }
  if (shape.layout == Layout::plain) return shape;
  if (shape.derivation == Derivation::squid_words) return ShapeError::not_partitioned;
  if (shape.bits % shape.hashes != 0) return ShapeError::uneven_slices;
  return shape;
}

// By words of eight bytes: a filter may have 512 MiB, and is counted each time it arrives.
std::uint64_t count_bits(std::span<const std::uint8_t> bytes) {
  std::uint64_t count = 0;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    count += static_cast<unsigned>(std::popcount(load64(bytes.data())));
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
  // The logarithm of a full filter is not finite.
  const auto set = static_cast<double>(std::min(bits_set, shape.bits - 1));
  // If a hash has a single bit to choose from, one key sets it, and so do many.
  if (choices == 1) return bits_set == 0 ? 0 : 1;
  // log1p, since with few bits set 1 - set / bits would lose most of its digits.
  return std::log1p(-set / bits) / (draws * std::log1p(-1 / choices));
}

}  // namespace digest
