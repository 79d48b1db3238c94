#include "digest/sizing.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace digest {
namespace {

constexpr double kLn2 = std::numbers::ln2;

std::optional<SizingError> refuse(std::uint64_t bits, std::uint32_t hashes) {
  if (bits == 0) return SizingError::no_bits;
  if (bits > kMaxBits) return SizingError::too_large;
  if (hashes == 0) return SizingError::no_hashes;
  if (hashes > kMaxHashes) return SizingError::too_large;
  return std::nullopt;
}

// Written so that NaN is out of range.
bool is_rate(double rate) {
  return rate > 0 && rate < 1;
}

// log_clear: the logarithm of the share of bits that one position leaves clear.
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
  }
  return "unknown error";
}

Sized<double> false_positive_rate(std::uint64_t bits, std::uint64_t entries, std::uint32_t hashes) {
  if (const auto error = refuse(bits, hashes)) return *error;
  return rate_of(std::log1p(-1 / static_cast<double>(bits)), entries, hashes);
}

Sized<double> approximate_false_positive_rate(std::uint64_t bits, std::uint64_t entries,
                                              std::uint32_t hashes) {
  if (const auto error = refuse(bits, hashes)) return *error;
  return approximate(bits, entries, hashes);
}

Sized<std::uint32_t> optimal_hashes(std::uint64_t bits, std::uint64_t entries) {
  if (const auto error = refuse(bits, 1)) return *error;
  if (entries == 0) return SizingError::no_entries;
  const double best = static_cast<double>(bits) / static_cast<double>(entries) * kLn2;
  const auto lower = static_cast<std::uint32_t>(std::clamp<double>(best, 1, kMaxHashes));
  const auto upper = std::min(lower + 1, kMaxHashes);
  const bool more_work_pays = approximate(bits, entries, upper) < approximate(bits, entries, lower);
  return more_work_pays ? upper : lower;
}

Sized<std::uint64_t> bits_for(std::uint64_t entries, double rate) {
  if (entries == 0) return SizingError::no_entries;
  if (!is_rate(rate)) return SizingError::rate_out_of_range;
  const double bits = std::ceil(-static_cast<double>(entries) * std::log(rate) / (kLn2 * kLn2));
  if (bits > static_cast<double>(kMaxBits)) return SizingError::too_large;
  return static_cast<std::uint64_t>(bits);
}

Sized<std::uint64_t> capacity_for(std::uint64_t bits, double rate) {
  if (const auto error = refuse(bits, 1)) return *error;
  if (!is_rate(rate)) return SizingError::rate_out_of_range;
  const double entries = -static_cast<double>(bits) * kLn2 * kLn2 / std::log(rate);
  constexpr double kMost = 1e18;  // a rate next to 1 holds any number; this one still converts
  return static_cast<std::uint64_t>(std::min(entries, kMost));
}

}  // namespace digest
