#include "digest/quotient_filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "digest/base64.hpp"
#include "keys.hpp"
#include "saved.hpp"

namespace digest {
namespace {

QuotientFilter filter_of(const QuotientShape& shape, std::uint64_t from = 0, std::uint64_t to = 0) {
  auto filter = *QuotientFilter::create(shape);
  for (std::uint64_t i = from; i < to; ++i) EXPECT_TRUE(filter.insert(quick_key(i)).has_value());
  return filter;
}

// What the filter should hold: each fingerprint as often as it was inserted.
class ExactFingerprints {
 public:
  explicit ExactFingerprints(const QuotientShape& shape) : bits_(shape.fingerprint_bits()) {}

  std::uint64_t of(const Key& key) const { return load64(key.bytes.data()) >> (64 - bits_); }
  void insert(const Key& key) { held_.insert(of(key)); }
  bool contains(const Key& key) const { return held_.count(of(key)) != 0; }
  void remove(const Key& key) { held_.erase(held_.find(of(key))); }
  std::vector<std::uint64_t> all() const { return {held_.begin(), held_.end()}; }

 private:
  std::uint32_t bits_;
  std::multiset<std::uint64_t> held_;
};

class LoadedQuotientFilter : public testing::TestWithParam<QuotientShape> {};

// Small tables, so that runs, clusters and the end of the table meet in every way.
TEST_P(LoadedQuotientFilter, HoldsExactlyItsFingerprintsThroughAnyHistory) {
  QuotientFilter filter = filter_of(GetParam());
  ExactFingerprints exact(GetParam());
  std::vector<Key> held;
  std::mt19937 random(5);
  for (int step = 0; step < 20'000; ++step) {
    const bool filling = step / 1'000 % 2 == 0;  // alternates between filling and emptying
    if (random() % 4 < (filling ? 3U : 1U)) {
      const Key key = quick_key(random() % 2'000);
      const bool known = exact.contains(key);
      const auto fresh = filter.insert(key);
      ASSERT_EQ(fresh.has_value(), held.size() < GetParam().capacity());
      if (!fresh) continue;
      ASSERT_EQ(*fresh, !known);
      exact.insert(key);
      held.push_back(key);
    } else if (!held.empty()) {
      std::swap(held[random() % held.size()], held.back());
      ASSERT_TRUE(filter.remove(held.back()));
      exact.remove(held.back());
      held.pop_back();
    }
    const Key asked = quick_key(random() % 4'000);
    ASSERT_EQ(filter.contains(asked), exact.contains(asked));
    ASSERT_EQ(filter.entries(), held.size());
    if (step % 10 != 0) continue;
    ASSERT_EQ(filter.fingerprints(), exact.all()) << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, LoadedQuotientFilter,
                         testing::Values(QuotientShape{1, 4}, QuotientShape{3, 1},
                                         QuotientShape{4, 3}, QuotientShape{6, 9},
                                         QuotientShape{8, 56}, QuotientShape{10, 7}),
                         [](const auto& test) {
                           return std::to_string(test.param.quotient_bits) + "And" +
                                  std::to_string(test.param.remainder_bits);
                         });

TEST(QuotientFilter, IgnoresTheRemovalOfAnAbsentKey) {
  QuotientFilter filter = filter_of({8, 20}, 0, 100);
  const auto before = filter.fingerprints();
  for (std::uint64_t i = 100; i < 1'000; ++i) EXPECT_FALSE(filter.remove(quick_key(i)));
  EXPECT_EQ(filter.fingerprints(), before);
}

TEST(QuotientFilter, HoldsAKeyAsOftenAsItCame) {
  QuotientFilter filter = filter_of({8, 20});
  EXPECT_TRUE(*filter.insert(quick_key(1)));
  EXPECT_FALSE(*filter.insert(quick_key(1)));
  EXPECT_TRUE(filter.remove(quick_key(1)));
  EXPECT_TRUE(filter.contains(quick_key(1)));
  EXPECT_TRUE(filter.remove(quick_key(1)));
  EXPECT_FALSE(filter.contains(quick_key(1)));
}

TEST(QuotientFilter, IsWrongAsOftenAsTheorySays) {
  for (const std::uint64_t entries : {1'000U, 60'000U}) {
    auto filter = *QuotientFilter::for_capacity(entries, 0.01);
    for (std::uint64_t i = 0; i < entries; ++i)
      ASSERT_TRUE(filter.insert(quick_key(i)).has_value());
    const double theory = filter.false_positive_rate();
    EXPECT_LE(theory, 0.01);
    EXPECT_GT(theory, 0.01 / 2);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < 400'000; ++i) wrong += filter.contains(quick_key(~i)) ? 1 : 0;
    EXPECT_NEAR(static_cast<double>(wrong) / 400'000, theory, theory * 0.1) << entries;
  }
}

TEST(QuotientFilter, ChangesItsSizeWithoutTheKeys) {
  const QuotientFilter filter = filter_of({8, 20}, 0, 200);
  for (const std::uint32_t quotient_bits : {8U, 9U, 16U, 20U}) {
    auto other = *filter.resized(quotient_bits);
    EXPECT_EQ(other.fingerprints(), filter.fingerprints());
    EXPECT_EQ(other.shape().quotient_bits, quotient_bits);
    for (std::uint64_t i = 0; i < 200; ++i) ASSERT_TRUE(other.remove(quick_key(i)));
    EXPECT_EQ(other.entries(), 0U);
  }
  EXPECT_EQ(filter.resized(9)->resized(8)->save(), filter.save());
  EXPECT_EQ(filter.resized(7).error(), QuotientError::full);
  EXPECT_EQ(filter.resized(28).error(), QuotientError::bad_shape);
  EXPECT_EQ(filter.resized(0).error(), QuotientError::bad_shape);
}

TEST(QuotientFilter, MergesWithoutTheKeys) {
  const QuotientFilter a = filter_of({8, 20}, 0, 200);
  const QuotientFilter b = filter_of({7, 21}, 150, 250);
  const QuotientFilter both = *QuotientFilter::merge(a, b);
  EXPECT_EQ(both.shape(), (QuotientShape{9, 19}));
  EXPECT_EQ(both.entries(), 300U);
  for (std::uint64_t i = 0; i < 250; ++i) ASSERT_TRUE(both.contains(quick_key(i)));
  auto expected = a.fingerprints();
  const auto more = b.fingerprints();
  expected.insert(expected.end(), more.begin(), more.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(both.fingerprints(), expected);
  EXPECT_EQ(QuotientFilter::merge(b, a)->save(), both.save());
  EXPECT_EQ(QuotientFilter::merge(a, filter_of({8, 21})).error(),
            QuotientError::unlike_fingerprints);
}

TEST(QuotientFilter, IsNotMadeInAnImpossibleShape) {
  for (const QuotientShape& shape :
       {QuotientShape{0, 8}, QuotientShape{33, 8}, QuotientShape{8, 0}, QuotientShape{3, 62},
        QuotientShape{8, 57}, QuotientShape{32, 8}, QuotientShape{~0U, ~0U}}) {
    EXPECT_EQ(QuotientFilter::create(shape).error(), QuotientError::bad_shape);
  }
  EXPECT_EQ(QuotientFilter::for_capacity(~std::uint64_t{0}, 0.1).error(), QuotientError::bad_shape);
  EXPECT_EQ(QuotientFilter::for_capacity(10, 0).error(), QuotientError::bad_shape);
  EXPECT_EQ(QuotientFilter::for_capacity(10, 1e-300).error(), QuotientError::bad_shape);
}

TEST(QuotientFilter, ComesBackFromItsFile) {
  for (const QuotientShape& shape :
       {QuotientShape{1, 1}, QuotientShape{5, 3}, QuotientShape{8, 56}}) {
    const QuotientFilter filter = filter_of(shape, 0, shape.capacity());
    const QuotientFilter again = *QuotientFilter::load(filter.save());
    EXPECT_EQ(again.fingerprints(), filter.fingerprints());
    EXPECT_EQ(again.save(), filter.save());
  }
}

// Produced independently of this code, in Python.
TEST(QuotientFilter, HasAPinnedFile) {
  EXPECT_EQ(to_base64(filter_of({4, 5}, 0, 10).save()),
            "SFNZRgEFAAAiAAAAAAAAAMOOAyMAAAAABAAAAAAAAAAFAAAAAAAAAAoAAAAAAAAA1aiINJtRV5opAg"
            "==");
}

TEST(QuotientFilter, IsNotLoadedFromADamagedFile) {
  expect_no_damage_passes<QuotientFilter>(filter_of({4, 5}, 0, 10).save());
}

TEST(QuotientFilter, IsSafelyLoadedFromAnything) {
  const auto file = filter_of({4, 5}, 0, 10).save();
  expect_safe_on_any_payload<QuotientFilter>(FilterKind::quotient, file);
  const auto refused = [&file](std::size_t at, std::uint8_t value) {
    return load_changed<QuotientFilter>(FilterKind::quotient, file, at, value).error();
  };
  EXPECT_EQ(refused(0, 0), FileError::bad_shape);
  EXPECT_EQ(refused(1, 1), FileError::bad_shape);
  EXPECT_EQ(refused(16, 16), FileError::bad_shape) << "over capacity";
  EXPECT_EQ(refused(0, 28), FileError::wrong_length) << "too few bits for so many slots";
  EXPECT_EQ(refused(24, 0xff), FileError::bad_content) << "not as many 1s as entries";
}

// All entries have one quotient. Time and memory must stay proportional to the file.
TEST(QuotientFilter, LoadsAHostileFileInLinearTime) {
  constexpr std::uint64_t kEntries = 120'000;
  FileWriter writer(FilterKind::quotient);
  writer.number(17).number(1).number(kEntries);
  std::vector<std::uint8_t> row(((1U << 17) + kEntries + kEntries + 7) / 8);
  std::fill_n(row.begin(), kEntries / 8, std::uint8_t{0xff});
  const auto filter = QuotientFilter::load(std::move(writer.bytes(row)).finish());
  ASSERT_TRUE(filter.has_value());
  EXPECT_EQ(filter->fingerprints(), std::vector<std::uint64_t>(kEntries, 0));
}

}  // namespace
}  // namespace digest
