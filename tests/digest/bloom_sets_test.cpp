// Bloom filters as sets and as files: union, intersection, counts, saved forms.
#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "digest/bloom_filter.hpp"
#include "digest/sizing.hpp"
#include "keys.hpp"
#include "saved.hpp"

namespace digest {
namespace {

BloomFilter filter_of(const Shape& shape, std::uint64_t from = 0, std::uint64_t to = 0) {
  auto filter = *BloomFilter::create(shape);
  for (std::uint64_t i = from; i < to; ++i) filter.insert(quick_key(i));
  return filter;
}

const Shape kLayouts[] = {{120'000, 8},
                          {120'000, 8, Derivation::double_hashing, Layout::partitioned}};

TEST(BloomFilter, UnitesToTheFilterOfAllKeys) {
  for (const Shape& shape : kLayouts) {
    BloomFilter filter = filter_of(shape, 0, 6'000);
    ASSERT_TRUE(filter.unite(filter_of(shape, 4'000, 10'000)).has_value());
    EXPECT_EQ(filter, filter_of(shape, 0, 10'000));
    EXPECT_EQ(filter.bits_set(), filter_of(shape, 0, 10'000).bits_set());
    EXPECT_NEAR(filter.estimate(), 10'000, 200);
  }
}

TEST(BloomFilter, IntersectsToNoLessThanTheFilterOfCommonKeys) {
  for (const Shape& shape : kLayouts) {
    const BloomFilter a = filter_of(shape, 0, 6'000);
    const BloomFilter b = filter_of(shape, 4'000, 10'000);
    BloomFilter filter = a;
    ASSERT_TRUE(filter.intersect(b).has_value());
    EXPECT_EQ(filter.bits_set(), count_bits(filter.bytes()));
    for (std::uint64_t i = 4'000; i < 6'000; ++i) ASSERT_TRUE(filter.contains(quick_key(i)));
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      const Key key = quick_key(i);
      ASSERT_EQ(filter.contains(key), a.contains(key) && b.contains(key)) << i;
    }
  }
}

TEST(BloomFilter, MergesOnlyItsOwnShape) {
  const Shape shape{120'000, 8};
  const Salt salt = {1};
  const Shape others[] = {{120'008, 8},
                          {120'000, 6},
                          {120'000, 4, Derivation::squid_words},
                          {120'000, 8, Derivation::double_hashing, Layout::partitioned},
                          {120'000, 8, Derivation::salted, Layout::plain, salt}};
  BloomFilter filter = filter_of(shape, 0, 10);
  const BloomFilter before = filter;
  for (const Shape& other : others) {
    EXPECT_EQ(filter.unite(filter_of(other, 5, 15)).error(), ShapeError::unlike_shapes);
    EXPECT_EQ(filter.intersect(filter_of(other, 5, 15)).error(), ShapeError::unlike_shapes);
  }
  EXPECT_EQ(filter, before);
  EXPECT_EQ(*filter.additions(), 10U);
}

TEST(BloomFilter, KnowsItsAdditionsUntilItIsMerged) {
  BloomFilter filter = filter_of({1000, 4}, 0, 10);
  filter.insert(quick_key(1));
  EXPECT_EQ(*filter.additions(), 11U);
  BloomFilter united = filter;
  ASSERT_TRUE(united.unite(filter).has_value());
  EXPECT_EQ(united.additions(), std::nullopt);
  united.insert(quick_key(2));
  EXPECT_EQ(united.additions(), std::nullopt);
  BloomFilter common = filter;
  ASSERT_TRUE(common.intersect(filter).has_value());
  EXPECT_EQ(common.additions(), std::nullopt);
  EXPECT_FALSE(BloomFilter::from_bytes(filter.shape(), filter.bytes())->additions().has_value());
  united.clear();
  EXPECT_EQ(*united.additions(), 0U);
}

TEST(BloomFilter, MakesAnEmptyOneOfItsShape) {
  const BloomFilter filter = filter_of(kLayouts[1], 0, 100);
  EXPECT_EQ(*BloomFilter::create(filter.shape()), filter_of(kLayouts[1]));
  EXPECT_EQ(BloomFilter::create(filter.shape())->bits_set(), 0U);
}

TEST(BloomFilter, SetsOneBitPerSlice) {
  const BloomFilter filter =
      filter_of({64, 8, Derivation::double_hashing, Layout::partitioned}, 0, 1);
  for (const std::uint8_t slice : filter.bytes()) EXPECT_EQ(__builtin_popcount(slice), 1);
}

TEST(BloomFilter, IsWrongAsOftenInSlices) {
  for (const std::uint64_t entries : {2'000U, 50'000U}) {
    const Shape shape = *partitioned(*shape_for(entries));
    const BloomFilter filter = filter_of(shape, 0, entries);
    const double theory = *false_positive_rate(shape.bits, entries, shape.hashes);
    EXPECT_NEAR(filter.false_positive_rate(), theory, theory * 0.1);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < 600'000; ++i) wrong += filter.contains(quick_key(~i)) ? 1 : 0;
    EXPECT_NEAR(static_cast<double>(wrong) / 600'000, theory, theory * 0.1);
    const auto keys = static_cast<double>(entries);
    EXPECT_NEAR(filter.estimate(), keys, keys * 0.02);
  }
}

// A million real URLs, with and without a salt, in a filter of the default ratio.
TEST(BloomFilter, OfAMillionUrlsKeepsItsPromise) {
  constexpr std::uint64_t kUrls = 1'000'000;
  Shape salted = *shape_for(kUrls);
  salted.derivation = Derivation::salted;
  salted.salt = quick_key(1).bytes;
  std::vector<Key> keys;
  for (std::uint64_t i = 0; i < 2 * kUrls; ++i) keys.push_back(key_number(i));
  const std::span<const Key> held(keys.data(), kUrls);
  const std::span<const Key> absent(keys.data() + kUrls, kUrls);
  for (const Shape& shape : {*shape_for(kUrls), salted}) {
    auto filter = *BloomFilter::create(shape);
    for (const Key& key : held) filter.insert(key);
    for (const Key& key : held) ASSERT_TRUE(filter.contains(key));
    std::uint64_t wrong = 0;
    for (const Key& key : absent) wrong += filter.contains(key) ? 1 : 0;
    EXPECT_GE(wrong, 2'900U);
    EXPECT_LE(wrong, 3'400U);
  }
}

TEST(BloomFilter, ComesBackFromItsFileAndText) {
  for (const Shape& shape : {Shape{1001, 3}, kLayouts[1], Shape{80, 4, Derivation::squid_words}}) {
    BloomFilter filter = filter_of(shape, 0, 20);
    EXPECT_EQ(*BloomFilter::load(filter.save()), filter);
    EXPECT_EQ(*BloomFilter::from_text(filter.to_text()), filter);
    EXPECT_EQ(*BloomFilter::load(filter.save())->additions(), 20U);
    EXPECT_EQ(BloomFilter::load(filter.save())->bits_set(), filter.bits_set());
    ASSERT_TRUE(filter.unite(filter).has_value());
    EXPECT_FALSE(BloomFilter::load(filter.save())->additions().has_value());
  }
}

// Produced independently of this code, in Python.
TEST(BloomFilter, HasAPinnedFile) {
  BloomFilter filter = *BloomFilter::create({24, 4, Derivation::squid_words});
  filter.insert(key_of_words({0, 9, 22, 23}));
  EXPECT_EQ(filter.to_text(),
            "SFNZRgEBAAArAAAAAAAAAISd8LkAAAAAGAAAAAAAAAAEAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAACAA"
            "AAAAAAAAECwA==");
}

TEST(BloomFilter, ComesBackFromTextInLines) {
  const BloomFilter filter = filter_of({1001, 3}, 0, 20);
  std::string lines = filter.to_text();
  for (std::size_t at = 76; at < lines.size(); at += 78) lines.insert(at, "\r\n");
  EXPECT_EQ(*BloomFilter::from_text(lines + '\n'), filter);
  EXPECT_EQ(*BloomFilter::from_text(" \t\v\f" + lines), filter);
  for (const char stray : {'\0', '\b', '-', '\x85', '\xa0'}) {
    auto damaged = lines;
    damaged.insert(40, 1, stray);
    EXPECT_EQ(BloomFilter::from_text(damaged).error(), FileError::not_a_filter);
  }
}

TEST(BloomFilter, IsNotLoadedFromADamagedFile) {
  expect_no_damage_passes<BloomFilter>(filter_of({65, 3}, 0, 5).save());
  EXPECT_EQ(BloomFilter::from_text("SFNZ!").error(), FileError::not_a_filter);
}

TEST(BloomFilter, IsSafelyLoadedFromAnything) {
  const auto file = filter_of({65, 3}, 0, 5).save();
  expect_safe_on_any_payload<BloomFilter>(FilterKind::bloom, file);
  const std::size_t last = file.size() - kEnvelopeBytes - 1;
  EXPECT_EQ(load_changed<BloomFilter>(FilterKind::bloom, file, last, 2).error(),
            FileError::bad_content);
  EXPECT_EQ(load_changed<BloomFilter>(FilterKind::bloom, file, 3, 0x7f).error(),
            FileError::wrong_length);
}

}  // namespace
}  // namespace digest
