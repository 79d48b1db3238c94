#include "digest/plan.hpp"

#include <algorithm>
#include <cmath>

namespace digest {
namespace {

Sized<Shape> checked_shape(std::uint64_t bits, std::uint32_t hashes) {
  const Shape shape{.bits = std::max(bits, kLeastBits), .hashes = hashes};
  if (!check(shape)) return SizingError::too_large;
  return shape;
}

// Any arguments in range.
double dependence_of(std::uint64_t bits, std::uint64_t entries, std::uint32_t hashes) {
  constexpr double kMeasured = 5;
  const auto m = static_cast<double>(bits);
  return hashes == 1 ? 0 : kMeasured * static_cast<double>(entries) / (m * m);
}

bool keeps(double rate, std::uint64_t bits, std::uint64_t entries, std::uint32_t hashes) {
  const double dependence = dependence_of(bits, entries, hashes);
  return dependence < rate && *false_positive_rate(bits, entries, hashes) <= rate - dependence;
}

// The fewest bits that keep the rate. More bits only lower it.
Sized<std::uint64_t> least_bits(std::uint64_t capacity, double rate, std::uint32_t hashes) {
  const auto independent = bits_for(capacity, rate, hashes);
  if (!independent || hashes == 1) return independent;
  std::uint64_t enough = kMaxBits;
  if (!keeps(rate, enough, capacity, hashes)) return SizingError::too_large;
  for (std::uint64_t least = *independent; least < enough;) {
    const std::uint64_t middle = least + (enough - least) / 2;
    if (keeps(rate, middle, capacity, hashes)) {
      enough = middle;
    } else {
      least = middle + 1;
    }
  }
  return enough;
}

}  // namespace

Sized<double> dependence(std::uint64_t bits, std::uint64_t entries, std::uint32_t hashes) {
  if (const auto sound = check({.bits = bits, .hashes = hashes}); !sound) {
    if (bits == 0) return SizingError::no_bits;
    return hashes == 0 ? SizingError::no_hashes : SizingError::too_large;
  }
  return dependence_of(bits, entries, hashes);
}

Sized<Ratio> best_ratio(double bits_per_entry) {
  const auto ideal = ideal_hashes(bits_per_entry);
  if (!ideal) return ideal.error();
  const auto fewer = static_cast<std::uint32_t>(std::clamp<double>(*ideal, 1, kMaxHashes));
  const std::uint32_t more = std::min(fewer + 1, kMaxHashes);
  const bool pays = *rate_at(bits_per_entry, more) < *rate_at(bits_per_entry, fewer);
  return Ratio{bits_per_entry, pays ? more : fewer};
}

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
  std::uint32_t hashes = 1;
  auto bits = least_bits(capacity, rate, hashes);
  for (std::uint32_t more = 2; more <= kMaxHashes; ++more) {
    const auto with_more = least_bits(capacity, rate, more);
    if (!with_more || (bits && *bits <= *with_more)) continue;
    bits = with_more;
    hashes = more;
  }
  if (!bits) return bits.error();
  return checked_shape(*bits, hashes);
}

Sized<Shape> shape_for(std::uint64_t capacity, double rate, std::uint32_t hashes) {
  const auto bits = least_bits(capacity, rate, hashes);
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
