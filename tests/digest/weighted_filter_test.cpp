#include "digest/weighted_filter.hpp"

#include <gtest/gtest.h>

#include "digest/base64.hpp"
#include "digest/bloom_filter.hpp"
#include "keys.hpp"
#include "saved.hpp"

namespace digest {
namespace {

std::vector<Key> keys_from(std::uint64_t first, std::uint64_t count) {
  std::vector<Key> keys;
  for (std::uint64_t i = 0; i < count; ++i) keys.push_back(quick_key(first + i));
  return keys;
}

// The key n is asked for `most` / (n + 1) times.
std::vector<Asked> zipf(std::uint64_t first, std::uint64_t count, std::uint64_t most) {
  std::vector<Asked> asked;
  for (std::uint64_t i = 0; i < count; ++i) asked.push_back({quick_key(first + i), most / (i + 1)});
  return asked;
}

TEST(WeightedFilter, ForgetsNoMember) {
  // Half of the keys that are asked for are members.
  const auto filter =
      *WeightedFilter::create(120'000, keys_from(500, 10'000), zipf(0, 1'000, 10'000));
  for (const Key& key : keys_from(500, 10'000)) ASSERT_TRUE(filter.contains(key));
  EXPECT_EQ(filter.members(), 10'000U);
  EXPECT_GT(filter.heavy_keys(), 0U);
  EXPECT_LE(filter.bits(), 120'000U);
}

TEST(WeightedFilter, IsWrongAsOftenAsTheorySays) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const std::uint64_t first = seed << 40;
    const auto filter = *WeightedFilter::create(8 * kMillion, keys_from(first, kMillion),
                                                zipf(~first - kMillion, 20'000, kMillion));
    ASSERT_GT(filter.heavy_keys(), 0U);
    EXPECT_LE(filter.bits(), 8 * kMillion);
    double expected = 0;
    double wrong = 0;
    // Keys that nobody asked for, most of which have no extra hashes.
    for (std::uint64_t i = 0; i < kMillion; ++i) {
      const Key key = quick_key(first + (std::uint64_t{1} << 39) + i);
      expected += filter.rate_with(filter.hashes_of(key));
      wrong += filter.contains(key) ? 1 : 0;
    }
    EXPECT_NEAR(wrong, expected, 0.05 * expected) << seed;
    EXPECT_NEAR(expected / kMillion, filter.rate_with(filter.base_hashes()), 0.001);
  }
}

TEST(WeightedFilter, IsWrongLessOftenForWhatIsAskedForMore) {
  const auto filter =
      *WeightedFilter::create(80'000, keys_from(kMillion, 10'000), zipf(0, 2'000, 100'000));
  const std::uint32_t hottest = filter.hashes_of(quick_key(0));
  EXPECT_GT(hottest, filter.hashes_of(quick_key(300)));
  EXPECT_LT(filter.rate_with(hottest), 0.01 * filter.rate_with(filter.base_hashes()));
}

// The same bits, spent on few heavy keys, and on a plain filter.
TEST(WeightedFilter, ClaimsLessThanAPlainFilterWhereFewKeysGetMostRequests) {
  const auto members = keys_from(kMillion, 20'000);
  const auto asked = zipf(0, 300, 100'000);
  const auto filter = *WeightedFilter::create(160'000, members, asked);
  const double plain = *false_positive_rate(160'000, members.size(), 6);
  double all = 0;
  double expected = 0;
  for (const Asked& one : asked) {
    all += static_cast<double>(one.count);
    expected += static_cast<double>(one.count) * filter.rate_with(filter.hashes_of(one.key));
  }
  EXPECT_LT(expected / all, 0.2 * plain);
}

TEST(WeightedFilter, IsAPlainFilterWhereNobodyAsked) {
  const auto filter = *WeightedFilter::create(12'000, keys_from(0, 1'000), {});
  EXPECT_EQ(filter.heavy_keys(), 0U);
  EXPECT_EQ(filter.base_hashes(), 8U);
  auto plain = *BloomFilter::create({.bits = 12'000, .hashes = 8});
  for (const Key& key : keys_from(0, 1'000)) plain.insert(key);
  EXPECT_EQ(filter.bits_set(), plain.bits_set());
  EXPECT_EQ(WeightedFilter::create(0, {}, {}).error(), SizingError::no_bits);
  EXPECT_EQ(WeightedFilter::create(kMaxBits + 1, {}, {}).error(), SizingError::too_large);
}

TEST(WeightedFilter, SumsWhatIsRepeated) {
  auto members = keys_from(0, 1'000);
  auto asked = zipf(5'000, 100, 1'000);
  const auto once = *WeightedFilter::create(12'000, members, asked);
  members.insert(members.end(), members.begin(), members.begin() + 10);
  asked[0].count -= 300;
  asked.push_back({asked[0].key, 300});
  EXPECT_EQ(*WeightedFilter::create(12'000, members, asked), once);
}

TEST(WeightedFilter, ComesBackFromItsFile) {
  for (const std::uint64_t hot : {0U, 200U}) {
    const auto filter =
        *WeightedFilter::create(20'000, keys_from(0, 1'000), zipf(5'000, hot, 10'000));
    EXPECT_EQ(filter.heavy_keys() > 0, hot > 0);
    const auto loaded = WeightedFilter::load(filter.save());
    ASSERT_TRUE(loaded.has_value());
    EXPECT_EQ(*loaded, filter);
    EXPECT_EQ(loaded->bits_set(), filter.bits_set());
  }
}

// One key gets most of the requests.
std::vector<std::uint8_t> small_file() {
  const auto filter =
      *WeightedFilter::create(1'000, keys_from(0, 60), {{quick_key(9'000), kMillion}});
  EXPECT_EQ(filter.heavy_keys(), 1U);
  return filter.save();
}

// Produced independently of this code, in Python.
TEST(WeightedFilter, HasAPinnedFile) {
  EXPECT_EQ(
      to_base64(small_file()),
      "SFNZRgEIAADTAAAAAAAAADO4kqsAAAAARQIAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA8AAAAAAAAAFoA"
      "AAAAAAAASFNZRgEHAABCAAAAAAAAAPEX8r4AAAAAAQAAAAAAAAAAAAAABAgAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
      "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAKoPQJZCcKEhmDmBEo64+WBOAIhweoPAAEVQI4SMBFiABioBwZB4"
      "4ioBAQImYH9KAGNRqCQkKklREwTFw3AoMAhKBOJAcPQqSkSIDA==");
}

TEST(WeightedFilter, IsNotLoadedFromADamagedFile) {
  expect_no_damage_passes<WeightedFilter>(small_file());
}

TEST(WeightedFilter, IsSafelyLoadedFromAnything) {
  const auto file = small_file();
  expect_safe_on_any_payload<WeightedFilter>(FilterKind::weighted, file);
  const auto changed = [&file](std::size_t at, std::uint8_t value) {
    return load_changed<WeightedFilter>(FilterKind::weighted, file, at, value).error();
  };
  EXPECT_EQ(changed(7, 1), FileError::bad_shape);
  EXPECT_EQ(changed(8, 18), FileError::bad_shape);  // too many hashes with the extra ones
  EXPECT_EQ(changed(12, 2), FileError::bad_shape);  // salted
  EXPECT_EQ(changed(47, 1), FileError::wrong_length);
  EXPECT_EQ(changed(kShapeBytes + 16 + 30, 0xff), FileError::damaged);  // of the extra hashes
}

}  // namespace
}  // namespace digest
