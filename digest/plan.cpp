#include "digest/plan.hpp"

#include <algorithm>
#include <cmath>

namespace digest {
namespace {

Sized<Shape> checked_shape(std::uint64_t bits, std::uint32_t hashes) {
  const Shape shape{.bits = bits, .hashes = hashes};
  if (!check(shape)) return SizingError::too_large;
  return shape;
}

}  // namespace

Sized<Ratio> ratio_for(double rate, double most_bits_per_entry) {
  if (!(most_bits_per_entry > 0)) return SizingError::no_bits;
  for (std::uint32_t hashes = 1; hashes <= kMaxHashes; ++hashes) {
    const auto needed = bits_per_entry_for(rate, hashes);
    if (!needed) return needed.error();
    if (*needed <= most_bits_per_entry) return Ratio{*needed, hashes};
  }
  return SizingError::rate_too_low;
}

Sized<Shape> shape_for(std::uint64_t capacity, Ratio ratio) {
  if (capacity == 0) return SizingError::no_entries;
  if (!(ratio.bits_per_entry > 0)) return SizingError::no_bits;
  if (ratio.hashes == 0) return SizingError::no_hashes;
  const double bits = std::ceil(static_cast<double>(capacity) * ratio.bits_per_entry);
  if (bits > static_cast<double>(kMaxBits)) return SizingError::too_large;
  return checked_shape(static_cast<std::uint64_t>(bits), ratio.hashes);
}

Sized<Shape> shape_for(std::uint64_t capacity, double rate) {
  const auto ideal = ideal_hashes_for(rate);
  if (!ideal) return ideal.error();
  const auto lower = static_cast<std::uint32_t>(std::clamp<double>(*ideal, 1, kMaxHashes));
  const auto fewer = shape_for(capacity, rate, lower);
  const auto more = shape_for(capacity, rate, std::min(lower + 1, kMaxHashes));
  if (!fewer || !more) return fewer ? fewer : more;
  return more->bits < fewer->bits ? more : fewer;
}

Sized<Shape> shape_for(std::uint64_t capacity, double rate, std::uint32_t hashes) {
  const auto bits = bits_for(capacity, rate, hashes);
  if (!bits) return bits.error();
  return checked_shape(*bits, hashes);
}

Sized<Shape> partitioned(Shape plain) {
  if (plain.hashes == 0) return SizingError::no_hashes;
  if (plain.bits == 0) return SizingError::no_bits;
  if (plain.bits > kMaxBits) return SizingError::too_large;
  plain.bits = (plain.bits + plain.hashes - 1) / plain.hashes * plain.hashes;
  plain.layout = Layout::partitioned;
  if (!check(plain)) return SizingError::too_large;
  return plain;
}

}  // namespace digest
