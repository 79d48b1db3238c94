#include "digest/sizing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "digest/bloom_filter.hpp"
#include "keys.hpp"

namespace digest {
namespace {

double predicted(const Shape& shape, std::uint64_t entries) {
  return *false_positive_rate(shape.bits, entries, shape.hashes);
}

double with_dependence(const Shape& shape, std::uint64_t entries) {
  return predicted(shape, entries) + *dependence(shape.bits, entries, shape.hashes);
}

TEST(Plan, DefaultsToTwelveBitsAndEightHashes) {
  EXPECT_EQ(*shape_for(1'000'000), (Shape{12'000'000, 8}));
  EXPECT_NEAR(predicted(*shape_for(1'000'000), 1'000'000), 0.00314, 0.00001);
}

TEST(Plan, KeepsTheRateInTheSmallestShape) {
  for (const double rate : {0.5, 0.1, 0.01, 0.003, 1e-4, 1e-9}) {
    for (const std::uint64_t capacity : {1U, 7U, 1'000U, 1'000'000U}) {
      const Shape shape = *shape_for(capacity, rate);
      EXPECT_LE(with_dependence(shape, capacity), rate * (1 + 1e-9)) << capacity << ' ' << rate;
      for (std::uint32_t hashes = 1; hashes <= kMaxHashes; ++hashes) {
        const auto other = shape_for(capacity, rate, hashes);
        EXPECT_TRUE(!other || shape.bits <= other->bits) << capacity << ' ' << rate;
      }
    }
  }
}

TEST(Plan, KeepsTheRateWithTheHashesAskedFor) {
  const Shape shape = *shape_for(10'000, 0.01, 3);
  EXPECT_EQ(shape.hashes, 3U);
  EXPECT_LE(with_dependence(shape, 10'000), 0.01);
  EXPECT_GT(with_dependence({shape.bits - 1, 3}, 10'000), 0.01);
}

TEST(Plan, SpendsLittleOnDependenceWhereThereAreManyEntries) {
  for (const double rate : {0.01, 0.001, 1e-4}) {
    const auto independent = static_cast<double>(*bits_for(1'000'000, rate));
    EXPECT_LT(static_cast<double>(shape_for(1'000'000, rate)->bits), 1.02 * independent) << rate;
  }
  EXPECT_GT(shape_for(100, 1e-9)->bits, 100 * *bits_for(100, 1e-9)) << "all of the rate";
}

TEST(Plan, HasALeastSizeByRateAndByRatio) {
  EXPECT_EQ(shape_for(3, 0.001)->bits, kLeastBits);
  EXPECT_EQ(shape_for(3, 0.001, 4)->bits, kLeastBits);
  EXPECT_EQ(*shape_for(3), (Shape{kLeastBits, 8}));
}

struct Asked {
  std::uint64_t capacity;
  double rate;
  int filters;  // how many filters of that capacity are tried
  std::uint64_t asked_each;
};

// Looks at many filters, because a single one with few keys may be better than most by chance.
double wrong_in(const Asked& asked) {
  std::uint64_t next = 0;
  std::uint64_t wrong = 0;
  for (int i = 0; i < asked.filters; ++i) {
    auto filter = *BloomFilter::create(*shape_for(asked.capacity, asked.rate));
    for (std::uint64_t key = 0; key < asked.capacity; ++key) filter.insert(quick_key(next++));
    for (std::uint64_t key = 0; key < asked.asked_each; ++key) {
      wrong += filter.contains(quick_key(next++)) ? 1 : 0;
    }
  }
  return static_cast<double>(wrong);
}

TEST(Plan, MeasuredRateIsKeptBySmallSetsAndLowRates) {
  for (const Asked& asked : {Asked{3, 0.001, 50, 2'000}, Asked{100, 1e-6, 10, 200'000},
                             Asked{1000, 1e-6, 3, 1'000'000}, Asked{100, 1e-9, 1, 500'000}}) {
    const double expected = asked.rate * asked.filters * static_cast<double>(asked.asked_each);
    EXPECT_LE(wrong_in(asked), expected + 4 * std::sqrt(expected) + 1)
        << asked.capacity << " at " << asked.rate;
  }
}

TEST(Plan, TakesTheHashesThatAreBestForTheBits) {
  for (const auto& [bits, hashes] : {std::pair{12.0, 8U}, {8.0, 6U}, {0.5, 1U}, {100.0, 32U}}) {
    EXPECT_EQ(best_ratio(bits)->hashes, hashes) << bits;
    EXPECT_EQ(best_ratio(bits)->bits_per_entry, bits);
  }
  EXPECT_EQ(best_ratio(0).error(), SizingError::no_bits);
}

TEST(Plan, TakesTheFewestHashesThatTheBitsAllow) {
  const Ratio ratio = *ratio_for(0.01, 12);
  EXPECT_EQ(ratio.hashes, 4U);
  EXPECT_LE(ratio.bits_per_entry, 12);
  EXPECT_GT(*bits_per_entry_for(0.01, 3), 12);
  EXPECT_LE(predicted(*shape_for(100'000, ratio), 100'000), 0.01 * (1 + 1e-5));
  EXPECT_EQ(ratio_for(0.01, 9.5).error(), SizingError::rate_too_low);
}

TEST(Plan, MakesEvenSlices) {
  const Shape shape = *partitioned({1001, 7});
  EXPECT_EQ(shape, (Shape{1001, 7, Derivation::double_hashing, Layout::partitioned}));
  EXPECT_EQ(partitioned({1002, 7})->bits, 1008U);
}

TEST(Plan, RefusesArgumentsOutOfRange) {
  EXPECT_EQ(shape_for(0).error(), SizingError::no_entries);
  EXPECT_EQ(shape_for(kMaxBits).error(), SizingError::too_large);
  EXPECT_EQ(shape_for(1, {.bits_per_entry = std::nan("")}).error(), SizingError::no_bits);
  EXPECT_EQ(shape_for(1, {.hashes = 0}).error(), SizingError::no_hashes);
  EXPECT_EQ(shape_for(1, {.hashes = 33}).error(), SizingError::too_large);
  EXPECT_EQ(shape_for(0, 0.1).error(), SizingError::no_entries);
  EXPECT_EQ(shape_for(1, 1.0).error(), SizingError::rate_out_of_range);
  EXPECT_EQ(shape_for(1, 0.1, 0).error(), SizingError::no_hashes);
  EXPECT_EQ(shape_for(kMaxBits / 4, 1e-9).error(), SizingError::too_large);
  EXPECT_EQ(dependence(0, 1, 2).error(), SizingError::no_bits);
  EXPECT_EQ(dependence(8, 1, 0).error(), SizingError::no_hashes);
  EXPECT_EQ(dependence(8, 1, 33).error(), SizingError::too_large);
  EXPECT_EQ(ratio_for(0, 12).error(), SizingError::rate_out_of_range);
  EXPECT_EQ(ratio_for(0.1, std::nan("")).error(), SizingError::no_bits);
  EXPECT_EQ(partitioned({0, 4}).error(), SizingError::no_bits);
  EXPECT_EQ(partitioned({kMaxBits, 7}).error(), SizingError::too_large);
}

}  // namespace
}  // namespace digest
