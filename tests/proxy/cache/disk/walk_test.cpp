#include "proxy/cache/disk/index.hpp"

#include <gtest/gtest.h>

#include "tests/digest/keys.hpp"

namespace proxy::cache::disk {
namespace {

using digest::quick_key;

class IndexWalk : public ::testing::Test {
 protected:
  void put(std::uint64_t number, std::uint32_t segment, std::uint32_t offset,
           RecordKind kind = RecordKind::whole) {
    index_.put(quick_key(number), {.at = {segment, offset}, .kind = kind});
  }
  static bool all(const Location&) { return true; }
  std::vector<Key> rest(Walk& walk) {
    std::vector<Key> met;
    while (const auto step = walk.next()) met.push_back(step->key);
    return met;
  }

  Index index_;
};

TEST_F(IndexWalk, VisitsEachEntryOnceInTheOrderOfTheLog) {
  constexpr std::uint32_t kMany = 200'000;  // so that the walk gathers several times
  std::vector<Key> expected;
  for (std::uint32_t i = 0; i < kMany; ++i) {
    const std::uint32_t number = i * 7919 % kMany;  // in no order
    put(number, 1 + number / 1000, 32 + number % 1000 * 16);
    expected.push_back(quick_key(i));
  }
  Walk walk(index_, all);
  EXPECT_TRUE(rest(walk) == expected);
  EXPECT_FALSE(walk.next());
}

TEST_F(IndexWalk, VisitsOnlyWantedEntries) {
  put(1, 1, 32, RecordKind::block);
  put(2, 1, 64);
  Walk walk(index_, [](const Location& place) { return place.kind == RecordKind::whole; });
  EXPECT_EQ(rest(walk), std::vector{quick_key(2)});
}

TEST_F(IndexWalk, FollowsCopiesAndLeavesOutErasedAndNewEntries) {
  for (std::uint32_t i = 1; i <= 4; ++i) put(i, 1, 32 * i);
  Walk walk(index_, all);
  EXPECT_EQ(walk.next()->key, quick_key(1));
  put(1, 2, 32);  // visited already
  put(2, 2, 64);
  index_.erase(quick_key(3));
  put(5, 2, 96);
  const auto moved = walk.next();
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->key, quick_key(2));
  EXPECT_EQ(moved->place.at, (Position{2, 64}));
  EXPECT_EQ(rest(walk), std::vector{quick_key(4)});
}

TEST_F(IndexWalk, OfAnEmptyIndexEndsAtOnce) {
  Walk walk(index_, all);
  EXPECT_FALSE(walk.next());
}

}  // namespace
}  // namespace proxy::cache::disk
