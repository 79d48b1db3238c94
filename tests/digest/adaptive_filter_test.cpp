#include "digest/adaptive_filter.hpp"

#include <gtest/gtest.h>

#include "digest/base64.hpp"
#include "keys.hpp"
#include "saved.hpp"

namespace digest {
namespace {

AdaptiveFilter adaptive_of(std::uint64_t first, std::uint64_t count, unsigned bits) {
  auto filter = *AdaptiveFilter::create(count, bits);
  for (std::uint64_t i = 0; i < count; ++i) filter.insert(quick_key(first + i));
  return filter;
}

bool has_all(const AdaptiveFilter& filter, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!filter.contains(quick_key(first + i))) return false;
  }
  return true;
}

TEST(AdaptiveFilter, TakesTheKeysItWasMadeForAndForgetsNone) {
  for (const std::uint64_t count : {1U, 7U, 1'000U, 50'000U}) {
    auto filter = *AdaptiveFilter::create(count, 12);
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSERT_EQ(filter.insert(quick_key(i)), AdaptiveFilter::Added::yes);
    }
    EXPECT_EQ(filter.insert(quick_key(0)), AdaptiveFilter::Added::known);
    EXPECT_EQ(filter.entries(), count);
    EXPECT_TRUE(has_all(filter, 0, count));
  }
}

TEST(AdaptiveFilter, IsAsBeforeWhereThereIsNoRoom) {
  auto filter = *AdaptiveFilter::create(100, 8);
  std::uint64_t taken = 0;
  while (filter.insert(quick_key(taken)) == AdaptiveFilter::Added::yes) ++taken;
  const auto before = filter;
  EXPECT_GT(taken, 100U);
  EXPECT_EQ(filter.insert(quick_key(taken)), AdaptiveFilter::Added::full);
  EXPECT_EQ(filter, before);
  EXPECT_TRUE(has_all(filter, 0, taken));
}

TEST(AdaptiveFilter, RemovesAKeyAndNoOther) {
  auto filter = adaptive_of(0, 1'000, 12);
  for (std::uint64_t i = 0; i < 500; ++i) EXPECT_TRUE(filter.remove(quick_key(i)));
  EXPECT_FALSE(filter.remove(quick_key(0)));
  EXPECT_EQ(filter.entries(), 500U);
  EXPECT_TRUE(has_all(filter, 500, 500));
}

TEST(AdaptiveFilter, IsWrongAsOftenAsTheorySaysAndOnceForEachKey) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    auto filter = adaptive_of(seed << 40, kMillion, 8);
    std::vector<Key> wrong;
    for (std::uint64_t i = 0; i < kMillion; ++i) {
      const Key key = quick_key(~(i + (seed << 40)));
      if (filter.contains(key)) wrong.push_back(key);
    }
    const double theory = filter.false_positive_rate();
    EXPECT_NEAR(theory, 0.0147, 0.0005);
    EXPECT_NEAR(static_cast<double>(wrong.size()) / kMillion, theory, 0.05 * theory) << seed;
    std::size_t corrected = 0;
    for (const Key& key : wrong) corrected += filter.correct(key) ? 1 : 0;
    // A cell that was corrected for one key may have dropped another one by chance, and few are
    // claimed by all eight fingerprints.
    EXPECT_GT(corrected, wrong.size() * 95 / 100);
    std::size_t again = 0;
    for (const Key& key : wrong) again += filter.contains(key) ? 1 : 0;
    EXPECT_LT(again, wrong.size() / 50) << seed;
    EXPECT_TRUE(has_all(filter, seed << 40, kMillion));
  }
}

TEST(AdaptiveFilter, CorrectsNoMember) {
  auto filter = adaptive_of(0, 1'000, 4);
  const auto before = filter;
  for (std::uint64_t i = 0; i < 1'000; ++i) EXPECT_FALSE(filter.correct(quick_key(i)));
  EXPECT_EQ(filter, before);
}

TEST(AdaptiveFilter, RefusesArgumentsOutOfRange) {
  EXPECT_EQ(AdaptiveFilter::create(0, 8).error(), SizingError::no_entries);
  EXPECT_EQ(AdaptiveFilter::create(1, 0).error(), SizingError::rate_out_of_range);
  EXPECT_EQ(AdaptiveFilter::create(1, 13).error(), SizingError::rate_out_of_range);
  EXPECT_EQ(AdaptiveFilter::create(kMaxBits, 8).error(), SizingError::too_large);
}

TEST(AdaptiveFilter, ComesBackFromItsFileWithWhatItLearned) {
  auto filter = adaptive_of(0, 1'000, 6);
  std::uint64_t learned = 1'000;
  while (!filter.correct(quick_key(learned))) ++learned;
  const auto loaded = AdaptiveFilter::load(filter.save());
  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(*loaded, filter);
  EXPECT_FALSE(loaded->contains(quick_key(learned)));
}

// Produced independently of this code, in Python.
TEST(AdaptiveFilter, HasAPinnedFile) {
  EXPECT_EQ(
      to_base64(adaptive_of(0, 2, 10).save()),
      "SFNZRgEKAABQAAAAAAAAAPX9l/0AAAAAEAAAAAAAAAAKAAAAAAAAAIWBAAAAACaDAAAAAAAAAAAAAAAAAAAAAAAA"
      "AAAAAAAAT0UJgBhdxAbsgUxyqLiL+K/NHXs5qCDi9GW5oWqeeG4=");
}

TEST(AdaptiveFilter, IsNotLoadedFromADamagedFile) {
  expect_no_damage_passes<AdaptiveFilter>(adaptive_of(0, 3, 8).save());
}

TEST(AdaptiveFilter, IsSafelyLoadedFromAnything) {
  const auto file = adaptive_of(0, 3, 8).save();
  expect_safe_on_any_payload<AdaptiveFilter>(FilterKind::adaptive, file);
  const auto changed = [&file](std::size_t at, std::uint8_t value) {
    return load_changed<AdaptiveFilter>(FilterKind::adaptive, file, at, value).error();
  };
  EXPECT_EQ(changed(7, 1), FileError::bad_shape);
  EXPECT_EQ(changed(0, 17), FileError::bad_shape);  // not four tables
  EXPECT_EQ(changed(8, 13), FileError::bad_shape);
  EXPECT_EQ(changed(0, 200), FileError::wrong_length);
  EXPECT_EQ(changed(payload_of(file).size() - 1, 0), FileError::bad_content);  // of a key
}

}  // namespace
}  // namespace digest
