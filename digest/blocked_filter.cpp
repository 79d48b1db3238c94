#include "digest/blocked_filter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace digest {
namespace {

constexpr std::uint64_t kLineBytes = 64;
constexpr std::uint64_t kMaxLines = kMaxBits / 8 / kLineBytes;

double rate_of_line(double keys) {
  return std::pow(-std::expm1(keys * std::log1p(-1.0 / 64)), 8);
}

// keys: the mean per line.
double mean_rate(double keys) {
  if (keys > 5000) return 1;
  const double spread = 12 * std::sqrt(keys) + 30;
  double rate = 0;
  for (double j = std::max(1.0, std::floor(keys - spread)); j < keys + spread; ++j) {
    rate += std::exp(j * std::log(keys) - keys - std::lgamma(j + 1)) * rate_of_line(j);
  }
  return std::min(rate, 1.0);
}

}  // namespace

Sized<double> blocked_rate(std::uint64_t lines, std::uint64_t entries) {
  if (lines == 0) return SizingError::no_bits;
  if (lines > kMaxLines) return SizingError::too_large;
  if (entries == 0) return 0.0;
  return mean_rate(static_cast<double>(entries) / static_cast<double>(lines));
}

Sized<std::uint64_t> blocked_lines_for(std::uint64_t entries, double rate) {
  if (entries == 0) return SizingError::no_entries;
  if (!(rate > 0 && rate < 1)) return SizingError::rate_out_of_range;
  if (*blocked_rate(kMaxLines, entries) > rate) return SizingError::too_large;
  std::uint64_t too_few = 0;
  std::uint64_t enough = kMaxLines;
  while (enough - too_few > 1) {
    const std::uint64_t middle = too_few + (enough - too_few) / 2;
    (*blocked_rate(middle, entries) > rate ? too_few : enough) = middle;
  }
  return enough;
}

Sized<BlockedFilter> BlockedFilter::create(std::uint64_t lines) {
  if (lines == 0) return SizingError::no_bits;
  if (lines > kMaxLines) return SizingError::too_large;
  return BlockedFilter(lines);
}

Sized<BlockedFilter> BlockedFilter::for_capacity(std::uint64_t capacity, double rate) {
  const auto lines = blocked_lines_for(capacity, rate);
  if (!lines) return lines.error();
  return BlockedFilter(*lines);
}

Loaded<BlockedFilter> BlockedFilter::load(std::span<const std::uint8_t> file) {
  auto reader = FileReader::open(file, FilterKind::blocked);
  if (!reader) return reader.error();
  const std::uint64_t lines = reader->number();
  if (lines == 0 || lines > kMaxLines) return FileError::bad_shape;
  if (reader->left() != lines * kLineBytes) return FileError::wrong_length;
  BlockedFilter filter(lines);
  for (Line& line : filter.lines_) {
    for (std::uint64_t& word : line.words) word = reader->number();
  }
  return filter;
}

std::vector<std::uint8_t> BlockedFilter::save() const {
  FileWriter file(FilterKind::blocked, 8 + lines_.size() * kLineBytes);
  file.number(lines_.size());
  for (const Line& line : lines_) {
    for (const std::uint64_t word : line.words) file.number(word);
  }
  return std::move(file).finish();
}

bool BlockedFilter::insert(const Key& key) {
  Line& line = lines_[line_of(key)];
  const std::uint64_t choice = load64(key.bytes.data() + 8);
  std::uint64_t missing = 0;
  for (unsigned i = 0; i < kWords; ++i) {
    missing |= ~line.words[i] & bit_of(choice, i);
    line.words[i] |= bit_of(choice, i);
  }
  return missing != 0;
}

double BlockedFilter::false_positive_rate() const {
  double sum = 0;
  for (const Line& line : lines_) {
    double rate = 1;
    for (const std::uint64_t word : line.words) rate *= std::popcount(word) / 64.0;
    sum += rate;
  }
  return sum / static_cast<double>(lines_.size());
}

}  // namespace digest
