#include "digest/counting_filter.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "digest/base64.hpp"
#include "keys.hpp"
#include "saved.hpp"

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

// Many keys in few counters, so that most counters overflow.
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

// The positions that are reported an odd number of times are exactly those that differ, even if
// counters stick.
TEST(CountingFilter, TellsEachBitThatItTurnsOver) {
  for (const std::uint64_t bits : {64U, 12'000U}) {
    CountingFilter filter = filter_of({bits, 4, kDouble});
    std::mt19937 random(3);
    BloomFilter before = filter.snapshot();
    CountingFilter::Turned turned;
    for (int step = 0; step < 2'000; ++step) {
      const Key key = quick_key(random() % 500);
      random() % 2 == 0 ? filter.add(key, &turned) : filter.remove(key, &turned);
      if (step % 40 != 39) continue;
      std::vector<std::uint8_t> bytes(before.bytes().begin(), before.bytes().end());
      for (const auto position : turned) {
        bytes[position >> 3] = static_cast<std::uint8_t>(bytes[position >> 3] ^ 1U << position % 8);
      }
      ASSERT_EQ(*BloomFilter::from_bytes(before.shape(), bytes), filter.projection()) << step;
      before = filter.snapshot();
      turned.clear();
    }
  }
}

TEST(CountingFilter, LeavesASnapshotAsItWas) {
  CountingFilter filter = filter_of({1000, 4, kDouble});
  filter.add(key_number(1));
  const BloomFilter snapshot = filter.snapshot();
  filter.add(key_number(2));
  EXPECT_TRUE(snapshot.contains(key_number(1)));
  EXPECT_FALSE(snapshot.contains(key_number(2)));
}

TEST(CountingFilter, IsNotMadeInAnImpossibleShape) {
  EXPECT_EQ(CountingFilter::create({0, 4, kDouble}).error(), ShapeError::no_bits);
  EXPECT_EQ(CountingFilter::create({80, 3, kSquid}).error(), ShapeError::not_four_hashes);
}

// Imitates a cache: variants of a URL are stored, replaced, expire, are evicted and purged.
// The filter is told of a URL when its first variant is stored and when its last one leaves.
class StaysOfACache {
 public:
  void store(std::uint64_t url, int variant) {
    auto& variants = held_[url];
    if (variants.empty()) filter_.add(quick_key(url));
    variants.insert(variant);  // or replaced: the filter is not told
  }
  void drop(std::uint64_t url, int variant) {  // expired or evicted, perhaps not there any more
    const auto found = held_.find(url);
    if (found == held_.end() || found->second.erase(variant) == 0) return;
    if (found->second.empty()) leave(url);
  }
  void purge(std::uint64_t url) {
    if (held_.count(url) != 0) leave(url);
  }

  const CountingFilter& filter() const { return filter_; }
  BloomFilter exact() const {
    BloomFilter exact = *BloomFilter::create(filter_.shape());
    for (const auto& url : held_) exact.insert(quick_key(url.first));
    return exact;
  }
  std::size_t urls() const { return held_.size(); }

 private:
  void leave(std::uint64_t url) {
    ASSERT_TRUE(filter_.remove(quick_key(url)));
    held_.erase(url);
  }

  CountingFilter filter_ = filter_of({12'000, 8, kDouble});
  std::map<std::uint64_t, std::set<int>> held_;
};

TEST(CountingFilter, FollowsTheStaysOfACacheExactly) {
  StaysOfACache cache;
  std::mt19937 random(11);
  for (int step = 0; step < 100'000; ++step) {
    const std::uint64_t url = random() % 1'500;
    const int variant = static_cast<int>(random() % 3);
    switch (random() % 8) {
      case 0:
      case 1:
      case 2:
        cache.store(url, variant);
        break;
      case 3:
        cache.purge(url);
        break;
      default:
        cache.drop(url, variant);
    }
    ASSERT_EQ(cache.filter().entries(), cache.urls());
    if (step % 2'000 != 0) continue;
    ASSERT_EQ(cache.filter().projection(), cache.exact()) << step;
  }
}

TEST(CountingFilter, ComesBackFromItsFile) {
  for (const std::uint64_t bits : {64U, 65U, 2'000U}) {
    CountingFilter filter = filter_of({bits, 4, kDouble});
    for (std::uint64_t i = 0; i < 60; ++i) filter.add(quick_key(i));
    auto again = *CountingFilter::load(filter.save());
    EXPECT_EQ(again.save(), filter.save());
    EXPECT_EQ(again.projection(), filter.projection());
    for (std::uint64_t i = 0; i < 60; ++i) {
      EXPECT_TRUE(again.remove(quick_key(i)));
      filter.remove(quick_key(i));
    }
    EXPECT_EQ(again.projection(), filter.projection()) << "counters came back too";
  }
}

TEST(CountingFilter, DoesNotSayHowOftenItsProjectionWasAddedTo) {
  EXPECT_FALSE(filter_of({64, 4, kDouble}).snapshot().additions().has_value());
}

// Produced independently of this code, in Python.
TEST(CountingFilter, HasAPinnedFile) {
  CountingFilter filter = filter_of({15, 4, kSquid});
  filter.add(key_of_words({0, 9, 14, 13}));
  filter.add(key_of_words({0, 9, 1, 1}));
  EXPECT_EQ(to_base64(filter.save()),
            "SFNZRgECAAAwAAAAAAAAAMtbyAwAAAAADwAAAAAAAAAEAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAACAA"
            "AAAAAAABIAAAAgABAB");
}

TEST(CountingFilter, IsNotLoadedFromADamagedFile) {
  CountingFilter filter = filter_of({65, 4, kDouble});
  filter.add(quick_key(1));
  expect_no_damage_passes<CountingFilter>(filter.save());
}

TEST(CountingFilter, IsSafelyLoadedFromAnything) {
  CountingFilter filter = filter_of({65, 4, kDouble});
  filter.add(quick_key(1));
  const auto file = filter.save();
  expect_safe_on_any_payload<CountingFilter>(FilterKind::counting, file);
  const auto refused = [&file](std::size_t at, std::uint8_t value) {
    return load_changed<CountingFilter>(FilterKind::counting, file, at, value).error();
  };
  EXPECT_EQ(refused(kShapeBytes, 9), FileError::bad_content) << "more entries than counts";
  EXPECT_EQ(refused(kShapeBytes, 0), FileError::bad_content) << "counts of no entry";
  EXPECT_EQ(refused(kShapeBytes + 8 + 32, 0x10), FileError::bad_content) << "beyond the end";
}

TEST_P(EitherCountingFilter, AddsAllAsItAddsEach) {
  // One key more than add_all() takes at a time; bits that end within a region of its.
  constexpr std::uint64_t kMany = 65'537;
  for (const std::uint64_t keys : {std::uint64_t{0}, std::uint64_t{1}, kMany}) {
    const Shape shape{1'000'003, 4, GetParam()};
    CountingFilter each = filter_of(shape);
    CountingFilter all = filter_of(shape);
    std::vector<Key> added{quick_key(0)};
    for (std::uint64_t i = 1; i < keys; ++i) added.push_back(quick_key(i / 2));
    if (keys == 0) added.clear();
    for (const Key& key : added) each.add(key);
    all.add_all(added);
    EXPECT_EQ(all.save(), each.save()) << keys;
    EXPECT_EQ(all.bits_set(), each.bits_set());
  }
}

}  // namespace
}  // namespace digest
