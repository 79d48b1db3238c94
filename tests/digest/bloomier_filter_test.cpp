#include "digest/bloomier_filter.hpp"

#include <gtest/gtest.h>

#include "digest/base64.hpp"
#include "keys.hpp"
#include "saved.hpp"

namespace digest {
namespace {

// Keys from `first` on, with values of this many bits.
std::vector<Valued> valued_keys(std::uint64_t first, std::uint64_t count, unsigned bits) {
  std::vector<Valued> entries;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto value =
        static_cast<std::uint32_t>(i * 0x9e3779b1 & ((std::uint64_t{1} << bits) - 1));
    entries.push_back({quick_key(first + i), value});
  }
  return entries;
}

BloomierFilter values_of(std::uint64_t count, BloomierForm form) {
  return *BloomierFilter::create(valued_keys(0, count, form.value_bits), form);
}

TEST(BloomierFilter, IsNeverWrongForItsKeys) {
  for (const BloomierForm form : {BloomierForm{1, 0}, {5, 3}, {13, 0}, {32, 0}, {0, 8}, {0, 32}}) {
    for (const std::uint64_t count : {0U, 1U, 2U, 30U, 10'007U}) {
      const auto entries = valued_keys(0, count, form.value_bits);
      const auto filter = BloomierFilter::create(entries, form);
      ASSERT_TRUE(filter.has_value());
      EXPECT_EQ(filter->keys(), count);
      for (const Valued& entry : entries) ASSERT_EQ(filter->find(entry.key), entry.value);
    }
  }
}

TEST(BloomierFilter, IsWrongForOthersAsOftenAsTheorySays) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const BloomierForm form{4, 6};
    const auto filter = *BloomierFilter::create(valued_keys(seed << 40, kMillion, 4), form);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < kMillion; ++i)
      wrong += filter.contains(quick_key(~(i + (seed << 40))));
    const double theory = 1.0 / 64;
    EXPECT_EQ(filter.false_positive_rate(), theory);
    EXPECT_NEAR(static_cast<double>(wrong) / kMillion, theory, 0.05 * theory) << seed;
  }
}

TEST(BloomierFilter, TakesTheBitsItsHeaderSpeaksOf) {
  const auto filter = values_of(kMillion, {3, 0});
  EXPECT_NEAR(static_cast<double>(filter.byte_count()) * 8 / kMillion, 1.23 * 3, 0.01);
}

TEST(BloomierFilter, RefusesWhatItCannotHold) {
  const auto entries = valued_keys(0, 10, 4);
  EXPECT_EQ(BloomierFilter::create(entries, {0, 0}).error(), BloomierError::bad_form);
  EXPECT_EQ(BloomierFilter::create(entries, {20, 13}).error(), BloomierError::bad_form);
  EXPECT_EQ(BloomierFilter::create(entries, {1, 4}).error(), BloomierError::value_too_large);
  auto equal = entries;
  equal.push_back({entries[3].key, 1});
  EXPECT_EQ(BloomierFilter::create(equal, {4, 4}).error(), BloomierError::equal_keys);
}

TEST(BloomierFilter, ComesBackFromItsFile) {
  const auto filter = values_of(1'000, {5, 6});
  const auto loaded = BloomierFilter::load(filter.save());
  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(*loaded, filter);
  EXPECT_EQ(loaded->find(quick_key(7)), filter.find(quick_key(7)));
}

// Produced independently of this code, in Python.
TEST(BloomierFilter, HasAPinnedFile) {
  std::vector<Valued> entries;
  for (std::uint32_t i = 0; i < 5; ++i) entries.push_back({quick_key(i), i});
  EXPECT_EQ(
      to_base64(BloomierFilter::create(entries, {3, 4})->save()),
      "SFNZRgEHAAAzAAAAAAAAAGVbolsAAAAABQAAAAAAAAAAAAAAAwQAAAAAAOABAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
      "YDqAJgAwAgAA");
}

TEST(BloomierFilter, IsNotLoadedFromADamagedFile) {
  expect_no_damage_passes<BloomierFilter>(values_of(9, {3, 2}).save());
}

TEST(BloomierFilter, IsSafelyLoadedFromAnything) {
  const auto file = values_of(9, {3, 2}).save();
  expect_safe_on_any_payload<BloomierFilter>(FilterKind::bloomier, file);
  const auto changed = [&file](std::size_t at, std::uint8_t value) {
    return load_changed<BloomierFilter>(FilterKind::bloomier, file, at, value).error();
  };
  EXPECT_EQ(changed(7, 1), FileError::bad_shape);       // too many keys
  EXPECT_EQ(changed(8, 64), FileError::bad_shape);      // no such seed
  EXPECT_EQ(changed(12, 31), FileError::bad_shape);     // 33 bits a slot
  EXPECT_EQ(changed(14, 1), FileError::bad_shape);      // not 0
  EXPECT_EQ(changed(0, 200), FileError::wrong_length);  // more keys than the slots are for
  EXPECT_EQ(changed(payload_of(file).size() - 1, 0xff), FileError::bad_content);
}

}  // namespace
}  // namespace digest
