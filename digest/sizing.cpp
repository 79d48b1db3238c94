#include "digest/sizing.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace digest {
namespace {

using Refusal = std::optional<SizingError>;

constexpr double kLn2 = std::numbers::ln2;
// (e ln 2 / 16)^16 (Fan et al., section V.C).
constexpr double kOverflowPerCounter = 1.37e-15;

Refusal refuse_hashes(std::uint32_t hashes) {
  if (hashes == 0) return SizingError::no_hashes;
  if (hashes > kMaxHashes) return SizingError::too_large;
  return std::nullopt;
}

Refusal refuse(std::uint64_t bits, std::uint32_t hashes = 1) {
  if (bits == 0) return SizingError::no_bits;
  if (bits > kMaxBits) return SizingError::too_large;
  return refuse_hashes(hashes);
}

// This function and the next treat NaN as out of range.
Refusal refuse_rate(double rate, std::uint32_t hashes = 1) {
  if (!(rate > 0 && rate < 1)) return SizingError::rate_out_of_range;
  return refuse_hashes(hashes);
}

Refusal refuse_ratio(double bits_per_entry, std::uint32_t hashes = 1) {
  if (!(bits_per_entry > 0)) return SizingError::no_bits;
  if (bits_per_entry > static_cast<double>(kMaxBits)) return SizingError::too_large;
  return refuse_hashes(hashes);
}

Refusal refuse_entries(std::uint64_t entries, double rate, std::uint32_t hashes = 1) {
  if (entries == 0) return SizingError::no_entries;
  return refuse_rate(rate, hashes);
}

Sized<std::uint64_t> whole_bits(double bits) {
  const double rounded = std::ceil(bits);
  if (!(rounded <= static_cast<double>(kMaxBits))) return SizingError::too_large;
  return static_cast<std::uint64_t>(std::max(rounded, 1.0));
}

std::uint64_t whole_entries(double entries) {
  // A rate next to 1 allows any number of entries. This one still converts to an integer.
  constexpr double kMost = 1e18;
  return static_cast<std::uint64_t>(std::min(entries, kMost));
}

// The value, unless there is a reason to refuse the arguments that it was computed from.
Sized<double> unless(Refusal refusal, double value) {
  return refusal ? Sized<double>(*refusal) : value;
}

// ln(1 - p^(1/k)): the logarithm of the share of bits that are clear when the rate is reached.
double log_clear_at(double rate, std::uint32_t hashes) {
  return std::log1p(-std::pow(rate, 1.0 / hashes));
}

// By logarithms: with millions of bits, 1 - 1/m has lost most of its digits before it is raised to
// a power.
// log_clear is the logarithm of the share of bits that one position leaves clear.
double rate_of(double log_clear, std::uint64_t entries, std::uint32_t hashes) {
  if (entries == 0) return 0;
  const double positions = static_cast<double>(entries) * hashes;
  return std::pow(-std::expm1(positions * log_clear), hashes);
}

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
  // Both terms of the rate fall with the bits, so there is one border to search for. No formula has
  // it: the bits occur in a power and in a square.
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

std::string_view to_string(SizingError error) {
  static constexpr std::array<std::string_view, 6> kTexts{
      "a filter needs at least one bit",
      "a filter is sized for at least one entry",
      "a filter needs at least one hash",
      "a false-positive rate is above 0 and below 1",
      "at most 512 MiB and 32 hashes make a filter",
      "so few bits per entry do not reach the rate with any number of hashes"};
  return text_in(kTexts, error);
}

Sized<double> false_positive_rate(std::uint64_t bits, std::uint64_t entries, std::uint32_t hashes) {
  return unless(refuse(bits, hashes),
                rate_of(std::log1p(-1 / static_cast<double>(bits)), entries, hashes));
}

Sized<std::uint64_t> bits_for(std::uint64_t entries, double rate, std::uint32_t hashes) {
  if (const auto error = refuse_entries(entries, rate, hashes)) return *error;
  const double positions = static_cast<double>(entries) * hashes;
  return whole_bits(-1 / std::expm1(log_clear_at(rate, hashes) / positions));
}

Sized<std::uint64_t> capacity_for(std::uint64_t bits, double rate, std::uint32_t hashes) {
  if (const auto error = refuse(bits, hashes)) return *error;
  if (const auto error = refuse_rate(rate)) return *error;
  const double log_clear = std::log1p(-1 / static_cast<double>(bits));
  return whole_entries(log_clear_at(rate, hashes) / (hashes * log_clear));
}

Sized<double> approximate_false_positive_rate(std::uint64_t bits, std::uint64_t entries,
                                              std::uint32_t hashes) {
  return unless(refuse(bits, hashes), rate_of(-1 / static_cast<double>(bits), entries, hashes));
}

Sized<double> rate_at(double bits_per_entry, std::uint32_t hashes) {
  return unless(refuse_ratio(bits_per_entry, hashes), rate_of(-1 / bits_per_entry, 1, hashes));
}

Sized<double> bits_per_entry_for(double rate, std::uint32_t hashes) {
  return unless(refuse_rate(rate, hashes),
                -static_cast<double>(hashes) / log_clear_at(rate, hashes));
}

Sized<double> short_bits_per_entry_for(double rate, std::uint32_t hashes) {
  if (const auto error = refuse_rate(rate, hashes)) return *error;
  const double set = std::pow(rate, 1.0 / hashes);
  return 2.0 * hashes / (2 * set + set * set);
}

Sized<double> short_rate_at(double bits_per_entry, std::uint32_t hashes) {
  if (const auto error = refuse_ratio(bits_per_entry, hashes)) return *error;
  const double set = std::sqrt(1 + 2.0 * hashes / bits_per_entry) - 1;
  if (set >= 1) return SizingError::rate_out_of_range;
  return std::pow(set, hashes);
}

Sized<double> ideal_hashes(double bits_per_entry) {
  return unless(refuse_ratio(bits_per_entry), bits_per_entry * kLn2);
}

Sized<double> ideal_bits_per_entry(std::uint32_t hashes) {
  return unless(refuse_hashes(hashes), hashes / kLn2);
}

Sized<std::uint32_t> optimal_hashes(std::uint64_t bits, std::uint64_t entries) {
  if (const auto error = refuse(bits)) return *error;
  if (entries == 0) return SizingError::no_entries;
  const auto best = best_ratio(static_cast<double>(bits) / static_cast<double>(entries));
  return best ? Sized<std::uint32_t>(best->hashes) : best.error();
}

Sized<double> ideal_hashes_for(double rate) {
  return unless(refuse_rate(rate), -std::log2(rate));
}

Sized<double> ideal_rate(std::uint32_t hashes) {
  return unless(refuse_hashes(hashes), std::exp2(-static_cast<double>(hashes)));
}

Sized<double> best_rate_at(double bits_per_entry) {
  return unless(refuse_ratio(bits_per_entry), std::exp(-bits_per_entry * kLn2 * kLn2));
}

Sized<double> bits_per_entry_for(double rate) {
  return unless(refuse_rate(rate), -std::log(rate) / (kLn2 * kLn2));
}

Sized<std::uint64_t> bits_for(std::uint64_t entries, double rate) {
  if (const auto error = refuse_entries(entries, rate)) return *error;
  return whole_bits(-static_cast<double>(entries) * std::log(rate) / (kLn2 * kLn2));
}

Sized<std::uint64_t> capacity_for(std::uint64_t bits, double rate) {
  if (const auto error = refuse(bits)) return *error;
  if (const auto error = refuse_rate(rate)) return *error;
  return whole_entries(-static_cast<double>(bits) * kLn2 * kLn2 / std::log(rate));
}

Sized<std::uint64_t> least_bits_for(std::uint64_t entries, double rate) {
  if (const auto error = refuse_entries(entries, rate)) return *error;
  return whole_bits(-static_cast<double>(entries) * std::log2(rate));
}

Sized<double> least_rate(std::uint64_t bits, std::uint64_t entries) {
  if (const auto error = refuse(bits)) return *error;
  if (entries == 0) return SizingError::no_entries;
  return std::exp2(-static_cast<double>(bits) / static_cast<double>(entries));
}

Sized<double> overflow_bound(std::uint64_t counters) {
  return unless(refuse(counters), kOverflowPerCounter * static_cast<double>(counters));
}

Sized<std::uint64_t> counters_for_overflow(double chance) {
  if (const auto error = refuse_rate(chance)) return *error;
  return whole_entries(chance / kOverflowPerCounter);
}

Sized<double> dependence(std::uint64_t bits, std::uint64_t entries, std::uint32_t hashes) {
  if (const auto error = refuse(bits, hashes)) return *error;
  return dependence_of(bits, entries, hashes);
}

Sized<Ratio> best_ratio(double bits_per_entry) {
  const auto ideal = ideal_hashes(bits_per_entry);
  if (!ideal) return ideal.error();
  // The rate has a single minimum over the real numbers, so one of its neighbours is best.
  const auto fewer = static_cast<std::uint32_t>(std::clamp<double>(*ideal, 1, kMaxHashes));
  const std::uint32_t more = std::min(fewer + 1, kMaxHashes);
  const bool pays = *rate_at(bits_per_entry, more) < *rate_at(bits_per_entry, fewer);
  return Ratio{bits_per_entry, pays ? more : fewer};
}

Sized<Ratio> ratio_for(double rate, double most_bits_per_entry) {
  if (!(most_bits_per_entry > 0)) return SizingError::no_bits;
  // Fewer hashes first: each costs a position in every lookup, and up to the best number each more
  // saves bits.
  for (std::uint32_t hashes = 1; hashes <= kMaxHashes; ++hashes) {
    const auto needed = bits_per_entry_for(rate, hashes);
    if (!needed) return needed.error();
    if (*needed <= most_bits_per_entry) return Ratio{*needed, hashes};
  }
  return SizingError::rate_too_low;
}

Sized<Shape> shape_for(std::uint64_t capacity, Ratio ratio) {
  if (capacity == 0) return SizingError::no_entries;
  if (const auto error = refuse_ratio(ratio.bits_per_entry, ratio.hashes)) return *error;
  const auto bits = whole_bits(static_cast<double>(capacity) * ratio.bits_per_entry);
  return bits ? checked_shape(*bits, ratio.hashes) : bits.error();
}

Sized<Shape> shape_for(std::uint64_t capacity, double rate) {
  std::uint32_t hashes = 1;
  auto bits = least_bits(capacity, rate, hashes);
  // (m/n) ln 2 is not the best number where positions depend on each other, so all are tried.
  for (std::uint32_t more = 2; more <= kMaxHashes; ++more) {
    const auto with_more = least_bits(capacity, rate, more);
    if (!with_more || (bits && *bits <= *with_more)) continue;
    bits = with_more;
    hashes = more;
  }
  return bits ? checked_shape(*bits, hashes) : bits.error();
}

Sized<Shape> shape_for(std::uint64_t capacity, double rate, std::uint32_t hashes) {
  const auto bits = least_bits(capacity, rate, hashes);
  return bits ? checked_shape(*bits, hashes) : bits.error();
}

Sized<Shape> partitioned(Shape plain) {
  if (const auto error = refuse(plain.bits, plain.hashes)) return *error;
  plain.bits = (plain.bits + plain.hashes - 1) / plain.hashes * plain.hashes;
  plain.layout = Layout::partitioned;
  return check(plain) ? Sized<Shape>(plain) : SizingError::too_large;
}

}  // namespace digest
