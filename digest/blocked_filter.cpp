#include "digest/blocked_filter.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

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
  // Each line is full, and the sum would have thousands of terms that are 1.
  if (keys > 5000) return 1;
  // Beyond twelve standard deviations the terms of Poisson no longer change the sum.
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
  if (const auto possible = blocked_rate(lines, 0); !possible) return possible.error();
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
  // Before the lines are allocated: the number is foreign.
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

bool BlockedFilter::holds(const Line& line, std::uint64_t choice) {
  std::uint64_t set = 1;
  // Without a branch on each word: the line is here, and a wrong guess costs more than eight steps.
  for (unsigned i = 0; i < kWords; ++i) set &= line.words[i] >> (choice >> (6 * i) & 63);
  return set != 0;
}

#ifdef __x86_64__
// The same, four or eight words at a time. The plain loop executes three or four times as many
// instructions, so only a third or a quarter as many lines are in flight from memory at once.
__attribute__((target("avx2"))) bool BlockedFilter::holds_avx2(const Line& line,
                                                               std::uint64_t choice) {
  const auto all = _mm256_set1_epi64x(static_cast<long long>(choice));
  const auto low_six = _mm256_set1_epi64x(63);
  const auto one = _mm256_set1_epi64x(1);
  const auto* const words = reinterpret_cast<const __m256i*>(line.words.data());
  const auto first = _mm256_srlv_epi64(all, _mm256_setr_epi64x(0, 6, 12, 18));
  const auto second = _mm256_srlv_epi64(all, _mm256_setr_epi64x(24, 30, 36, 42));
  const auto first_bits = _mm256_sllv_epi64(one, _mm256_and_si256(first, low_six));
  const auto second_bits = _mm256_sllv_epi64(one, _mm256_and_si256(second, low_six));
  // testc: every bit of the second argument is set in the first. No &&, to avoid a branch.
  const int both = _mm256_testc_si256(_mm256_load_si256(words), first_bits) &
                   _mm256_testc_si256(_mm256_load_si256(words + 1), second_bits);
  return both != 0;
}

__attribute__((target("avx512f"))) bool BlockedFilter::holds_avx512(const Line& line,
                                                                    std::uint64_t choice) {
  constexpr __mmask8 kEach = 0xff;  // without a mask, g++ 12 warns about its own header
  const auto all = _mm512_set1_epi64(static_cast<long long>(choice));
  const auto counts =
      _mm512_maskz_srlv_epi64(kEach, all, _mm512_setr_epi64(0, 6, 12, 18, 24, 30, 36, 42));
  // A rotation uses only the lowest six bits of its count.
  const auto words = _mm512_maskz_rorv_epi64(kEach, _mm512_load_si512(line.words.data()), counts);
  return _mm512_testn_epi64_mask(words, _mm512_set1_epi64(1)) == 0;
}
#else
bool BlockedFilter::holds_avx2(const Line&, std::uint64_t) {
  return false;  // never called
}
bool BlockedFilter::holds_avx512(const Line&, std::uint64_t) {
  return false;  // never called
}
#endif

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
