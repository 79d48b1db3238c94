#include "digest/counting_filter.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "keys.hpp"

namespace digest {
namespace {

constexpr auto kDouble = Derivation::double_hashing;
constexpr auto kSquid = Derivation::squid_words;

CountingFilter filter_of(const Shape& shape) {
  auto filter = CountingFilter::create(shape);
  EXPECT_TRUE(filter.has_value());
  return std::move(*filter);
}

BloomFilter plain_filter_of(const Shape& shape, const std::multiset<Key>& keys) {
  auto filter = BloomFilter::create(shape);
  for (const Key& key : keys) filter->insert(key);
  return std::move(*filter);
}

class EitherCountingFilter : public testing::TestWithParam<Derivation> {};

// Few keys at a time: no counter gets stuck, so the projection must be exact at every step.
TEST_P(EitherCountingFilter, IsTheFilterOfWhatItHoldsThroughAnyHistory) {
  const Shape shape{2000, 4, GetParam()};
  CountingFilter filter = filter_of(shape);
  std::multiset<Key> held;
  std::mt19937 random(7);
  for (int step = 0; step < 20'000; ++step) {
    const Key key = key_number(random() % 60);
    if (random() % 2 == 0 && held.count(key) < 2) {
      const bool known = filter.contains(key);
      EXPECT_EQ(filter.add(key), !known);
      held.insert(key);
    } else if (const auto found = held.find(key); found != held.end()) {
      ASSERT_TRUE(filter.remove(key));
      held.erase(found);
    }
    ASSERT_EQ(filter.entries(), held.size());
    if (step % 50 != 0) continue;
    ASSERT_EQ(filter.projection(), plain_filter_of(shape, held)) << step;
  }
  while (!held.empty()) {
    filter.remove(*held.begin());
    held.erase(held.begin());
  }
  EXPECT_EQ(filter.bits_set(), 0U);
}

// So many keys in so few counters that most of them overflow.
TEST_P(EitherCountingFilter, HasNoFalseNegativeWhenItsCountersOverflow) {
  CountingFilter filter = filter_of({64, 4, GetParam()});
  std::mt19937 random(7);
  std::multiset<std::uint64_t> held;
  for (int step = 0; step < 5'000; ++step) {
    const std::uint64_t number = random() % 400;
    if (random() % 2 == 0) {
      filter.add(key_number(number));
      held.insert(number);
    } else if (const auto found = held.find(number); found != held.end()) {
      ASSERT_TRUE(filter.remove(key_number(number)));
      held.erase(found);
    }
    if (step % 100 != 0) continue;
    for (const auto kept : held) ASSERT_TRUE(filter.contains(key_number(kept))) << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Derivations, EitherCountingFilter, testing::Values(kDouble, kSquid),
                         [](const auto& test) {
                           return test.param == kSquid ? "SquidWords" : "DoubleHashing";
                         });

TEST(CountingFilter, IgnoresTheRemovalOfAnAbsentKey) {
  CountingFilter filter = filter_of({1000, 4, kDouble});
  EXPECT_FALSE(filter.remove(key_number(1)));
  filter.add(key_number(1));
  const BloomFilter before = filter.snapshot();
  EXPECT_FALSE(filter.remove(key_number(2)));
  EXPECT_EQ(filter.projection(), before);
  EXPECT_EQ(filter.entries(), 1U);
}

TEST(CountingFilter, CountsACoincidingPositionOnce) {
  CountingFilter filter = filter_of({80, 4, kSquid});
  const Key one_position = key_of_words({5, 5, 5, 85});
  const Key neighbour = key_of_words({5, 6, 7, 7});
  filter.add(neighbour);
  filter.add(one_position);
  EXPECT_TRUE(filter.remove(one_position));
  EXPECT_TRUE(filter.contains(neighbour));
  EXPECT_TRUE(filter.remove(neighbour));
  EXPECT_EQ(filter.bits_set(), 0U);
}

TEST(CountingFilter, KeepsACounterThatReachedItsLimit) {
  CountingFilter filter = filter_of({80, 4, kSquid});
  const Key key = key_of_words({5, 5, 5, 5});
  for (int i = 0; i < 14; ++i) filter.add(key);
  for (int i = 0; i < 14; ++i) EXPECT_TRUE(filter.remove(key));
  EXPECT_FALSE(filter.contains(key));

  for (int i = 0; i < 15; ++i) filter.add(key);
  for (int i = 0; i < 15; ++i) EXPECT_TRUE(filter.remove(key));
  EXPECT_TRUE(filter.contains(key));
  EXPECT_EQ(filter.entries(), 0U);
}

TEST(CountingFilter, LeavesASnapshotAsItWas) {
  CountingFilter filter = filter_of({1000, 4, kDouble});
  filter.add(key_number(1));
  const BloomFilter snapshot = filter.snapshot();
  filter.add(key_number(2));
  EXPECT_TRUE(snapshot.contains(key_number(1)));
  EXPECT_FALSE(snapshot.contains(key_number(2)));
}

TEST(CountingFilter, HoldsNothingAfterClear) {
  CountingFilter filter = filter_of({1000, 4, kDouble});
  filter.add(key_number(1));
  filter.clear();
  EXPECT_EQ(filter.entries(), 0U);
  EXPECT_EQ(filter.bits_set(), 0U);
  filter.add(key_number(1));
  EXPECT_TRUE(filter.remove(key_number(1)));
  EXPECT_EQ(filter.bits_set(), 0U);
}

TEST(CountingFilter, IsNotMadeInAnImpossibleShape) {
  EXPECT_EQ(CountingFilter::create({0, 4, kDouble}).error(), ShapeError::no_bits);
  EXPECT_EQ(CountingFilter::create({80, 3, kSquid}).error(), ShapeError::not_four_hashes);
}

}  // namespace
}  // namespace digest
