#include "digest/bloom_filter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "digest/sizing.hpp"
#include "keys.hpp"

namespace digest {
namespace {

constexpr auto kDouble = Derivation::double_hashing;
constexpr auto kSquid = Derivation::squid_words;

BloomFilter filter_of(const Shape& shape, std::uint64_t entries = 0) {
  auto filter = BloomFilter::create(shape);
  EXPECT_TRUE(filter.has_value());
  for (std::uint64_t i = 0; i < entries; ++i) filter->insert(key_number(i));
  return std::move(*filter);
}

TEST(BloomFilter, HoldsNothingAtFirst) {
  const BloomFilter filter = filter_of({1000, 7, kDouble});
  EXPECT_FALSE(filter.contains(key_number(1)));
  EXPECT_EQ(filter.bits_set(), 0U);
  EXPECT_EQ(filter.false_positive_rate(), 0);
  EXPECT_EQ(filter.estimate(), 0);
  EXPECT_EQ(filter.bytes().size(), 125U);
}

TEST(BloomFilter, IsNotMadeInAnImpossibleShape) {
  EXPECT_EQ(BloomFilter::create({0, 4, kDouble}).error(), ShapeError::no_bits);
  EXPECT_EQ(BloomFilter::create({kMaxBits + 1, 4, kDouble}).error(), ShapeError::too_many_bits);
  EXPECT_EQ(BloomFilter::from_bytes({~std::uint64_t{0}, 4, kDouble}, {}).error(),
            ShapeError::too_many_bits);
}

TEST(BloomFilter, CountsBitZeroAsTheLowestOfTheFirstByte) {
  BloomFilter filter = filter_of({80, 4, kSquid});
  filter.insert(key_of_words({0, 9, 79, 79}));
  const std::vector<std::uint8_t> expected = {1, 2, 0, 0, 0, 0, 0, 0, 0, 0x80};
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), filter.bytes().begin()));
  EXPECT_EQ(filter.bits_set(), 3U);
}

struct Load {
  std::uint64_t entries;
  std::uint64_t bits_per_entry;
  std::uint32_t hashes;
  Derivation derivation;
};

class LoadedBloomFilter : public testing::TestWithParam<Load> {
 protected:
  Shape shape() const {
    const Load& load = GetParam();
    return {load.entries * load.bits_per_entry, load.hashes, load.derivation};
  }
};

TEST_P(LoadedBloomFilter, NeverForgetsAnInsertedKey) {
  const BloomFilter filter = filter_of(shape(), GetParam().entries);
  for (std::uint64_t i = 0; i < GetParam().entries; ++i) {
    ASSERT_TRUE(filter.contains(key_number(i))) << i;
  }
}

TEST_P(LoadedBloomFilter, IsWrongAsOftenAsTheorySays) {
  const BloomFilter filter = filter_of(shape(), GetParam().entries);
  const double theory = *false_positive_rate(shape().bits, GetParam().entries, GetParam().hashes);
  EXPECT_NEAR(filter.false_positive_rate(), theory, theory * 0.1);

  // Enough absent keys that 10 % of the expected false positives are four standard deviations.
  const auto asked = static_cast<std::uint64_t>(1600 / theory);
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < asked; ++i) {
    wrong += filter.contains(key_number(1'000'000'000 + i)) ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(wrong) / static_cast<double>(asked), theory, theory * 0.1);
}

TEST_P(LoadedBloomFilter, EstimatesHowManyKeysItTook) {
  const auto entries = static_cast<double>(GetParam().entries);
  const BloomFilter filter = filter_of(shape(), GetParam().entries);
  EXPECT_NEAR(filter.estimate(), entries, entries * 0.05);
}

INSTANTIATE_TEST_SUITE_P(Loads, LoadedBloomFilter,
                         testing::Values(Load{1'000, 5, 4, kSquid}, Load{20'000, 10, 4, kSquid},
                                         Load{20'000, 16, 4, kSquid}, Load{2'000, 8, 6, kDouble},
                                         Load{20'000, 12, 8, kDouble},
                                         Load{100'000, 10, 7, kDouble}),
                         [](const auto& test) {
                           const Load& load = test.param;
                           return (load.derivation == kSquid ? "Squid" : "Double") +
                                  std::to_string(load.entries) + "By" +
                                  std::to_string(load.bits_per_entry);
                         });

TEST(BloomFilter, SaysWhetherAKeyWasNew) {
  BloomFilter filter = filter_of({1000, 7, kDouble});
  EXPECT_TRUE(filter.insert(key_number(1)));
  EXPECT_FALSE(filter.insert(key_number(1)));
}

TEST(BloomFilter, ComesBackTheSameFromItsBytes) {
  for (const std::uint64_t bits : {1U, 63U, 64U, 65U, 1000U, 1001U}) {
    const BloomFilter filter = filter_of({bits, 3, kDouble}, 50);
    const auto again = BloomFilter::from_bytes(filter.shape(), filter.bytes());
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(*again, filter);
    EXPECT_EQ(again->bits_set(), filter.bits_set());
  }
}

TEST(BloomFilter, RefusesBytesThatAreNotItsOwn) {
  const Shape shape{12, 3, kDouble};
  const std::vector<std::uint8_t> good = {0xff, 0x0f};
  const std::vector<std::uint8_t> stray = {0, 0x10};
  EXPECT_TRUE(BloomFilter::from_bytes(shape, good).has_value());
  EXPECT_EQ(BloomFilter::from_bytes(shape, stray).error(), ShapeError::stray_bits);
  EXPECT_EQ(BloomFilter::from_bytes(shape, {}).error(), ShapeError::wrong_length);
  EXPECT_EQ(BloomFilter::from_bytes({17, 3, kDouble}, good).error(), ShapeError::wrong_length);
}

TEST(BloomFilter, HasAFiniteEstimateWhenFull) {
  const BloomFilter filter = filter_of({64, 4, kDouble}, 10'000);
  EXPECT_EQ(filter.fill_ratio(), 1);
  EXPECT_EQ(filter.false_positive_rate(), 1);
  EXPECT_TRUE(std::isfinite(filter.estimate()));
}

TEST(BloomFilter, IsEmptyAfterClear) {
  BloomFilter filter = filter_of({1000, 7, kDouble}, 20);
  filter.clear();
  EXPECT_EQ(filter, filter_of({1000, 7, kDouble}));
}

}  // namespace
}  // namespace digest
