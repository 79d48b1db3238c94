#include "digest/sizing.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace digest {
namespace {

using Refusal = std::optional<SizingError>;

constexpr double kLn2 = std::numbers::ln2;
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

// ln(1 - p^(1/k)): the logarithm of the share of bits that are clear when the rate is reached.
double log_clear_at(double rate, std::uint32_t hashes) {
  return std::log1p(-std::pow(rate, 1.0 / hashes));
}

// log_clear is the logarithm of the share of bits that one position leaves clear.
double rate_of(double log_clear, std::uint64_t entries, std::uint32_t hashes) {
  if (entries == 0) return 0;
  const double positions = static_cast<double>(entries) * hashes;
  return std::pow(-std::expm1(positions * log_clear), hashes);
}

double approximate(std::uint64_t bits, std::uint64_t entries, std::uint32_t hashes) {
  return rate_of(-1 / static_cast<double>(bits), entries, hashes);
}

}  // namespace

std::string_view to_string(SizingError error) {
  switch (error) {
    case SizingError::no_bits:
      return "a filter needs at least one bit";
    case SizingError::no_entries:
      return "a filter is sized for at least one entry";
    case SizingError::no_hashes:
      return "a filter needs at least one hash";
    case SizingError::rate_out_of_range:
      return "a false-positive rate is above 0 and below 1";
    case SizingError::too_large:
      return "at most 512 MiB and 32 hashes make a filter";
    case SizingError::rate_too_low:
      return "so few bits per entry do not reach the rate with any number of hashes";
  }
  return "unknown error";
}

Sized<double> false_positive_rate(std::uint64_t bits, std::uint64_t entries, std::uint32_t hashes) {
  if (const auto error = refuse(bits, hashes)) return *error;
  return rate_of(std::log1p(-1 / static_cast<double>(bits)), entries, hashes);
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
  if (const auto error = refuse(bits, hashes)) return *error;
  return approximate(bits, entries, hashes);
}

Sized<double> rate_at(double bits_per_entry, std::uint32_t hashes) {
  if (const auto error = refuse_ratio(bits_per_entry, hashes)) return *error;
  return rate_of(-1 / bits_per_entry, 1, hashes);
}

Sized<double> bits_per_entry_for(double rate, std::uint32_t hashes) {
  if (const auto error = refuse_rate(rate, hashes)) return *error;
  return -static_cast<double>(hashes) / log_clear_at(rate, hashes);
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
  if (const auto error = refuse_ratio(bits_per_entry)) return *error;
  return bits_per_entry * kLn2;
}

Sized<double> ideal_bits_per_entry(std::uint32_t hashes) {
  if (const auto error = refuse_hashes(hashes)) return *error;
  return hashes / kLn2;
}

Sized<std::uint32_t> optimal_hashes(std::uint64_t bits, std::uint64_t entries) {
  if (const auto error = refuse(bits)) return *error;
  if (entries == 0) return SizingError::no_entries;
  const double best = static_cast<double>(bits) / static_cast<double>(entries) * kLn2;
  const auto lower = static_cast<std::uint32_t>(std::clamp<double>(best, 1, kMaxHashes));
  const auto upper = std::min(lower + 1, kMaxHashes);
  const bool more_work_pays = approximate(bits, entries, upper) < approximate(bits, entries, lower);
  return more_work_pays ? upper : lower;
}

Sized<double> ideal_hashes_for(double rate) {
  if (const auto error = refuse_rate(rate)) return *error;
  return -std::log2(rate);
}

Sized<double> ideal_rate(std::uint32_t hashes) {
  if (const auto error = refuse_hashes(hashes)) return *error;
  return std::exp2(-static_cast<double>(hashes));
}

Sized<double> best_rate_at(double bits_per_entry) {
  if (const auto error = refuse_ratio(bits_per_entry)) return *error;
  return std::exp(-bits_per_entry * kLn2 * kLn2);
}

Sized<double> bits_per_entry_for(double rate) {
  if (const auto error = refuse_rate(rate)) return *error;
  return -std::log(rate) / (kLn2 * kLn2);
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
  if (const auto error = refuse(counters)) return *error;
  return kOverflowPerCounter * static_cast<double>(counters);
}

Sized<std::uint64_t> counters_for_overflow(double chance) {
  if (const auto error = refuse_rate(chance)) return *error;
  return whole_entries(chance / kOverflowPerCounter);
}

}  // namespace digest
