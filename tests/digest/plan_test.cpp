#include "digest/plan.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace digest {
namespace {

double predicted(const Shape& shape, std::uint64_t entries) {
  return *false_positive_rate(shape.bits, entries, shape.hashes);
}

TEST(Plan, DefaultsToTwelveBitsAndEightHashes) {
  EXPECT_EQ(*shape_for(1'000'000), (Shape{12'000'000, 8}));
  EXPECT_NEAR(predicted(*shape_for(1'000'000), 1'000'000), 0.00314, 0.00001);
}

TEST(Plan, KeepsTheRateInTheSmallestShape) {
  for (const double rate : {0.5, 0.1, 0.01, 0.003, 1e-4, 1e-9}) {
    for (const std::uint64_t capacity : {1U, 7U, 1'000U, 1'000'000U}) {
      const Shape shape = *shape_for(capacity, rate);
      EXPECT_LE(predicted(shape, capacity), rate * (1 + 1e-9)) << capacity << ' ' << rate;
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
  EXPECT_LE(predicted(shape, 10'000), 0.01);
  EXPECT_GT(predicted({shape.bits - 10, 3}, 10'000), 0.01);
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
  EXPECT_EQ(ratio_for(0, 12).error(), SizingError::rate_out_of_range);
  EXPECT_EQ(ratio_for(0.1, std::nan("")).error(), SizingError::no_bits);
  EXPECT_EQ(partitioned({0, 4}).error(), SizingError::no_bits);
  EXPECT_EQ(partitioned({kMaxBits, 7}).error(), SizingError::too_large);
}

}  // namespace
}  // namespace digest
