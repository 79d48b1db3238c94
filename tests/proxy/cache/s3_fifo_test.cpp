#include "proxy/cache/s3_fifo.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <set>

namespace proxy::cache {
namespace {

using Part = S3Fifo::Part;

struct Item : S3Fifo::Item {
  Item(std::uint64_t its_bytes, std::uint32_t its_fingerprint)
      : S3Fifo::Item(its_bytes), fingerprint(its_fingerprint) {}

  const std::uint32_t fingerprint;
};

std::uint32_t fingerprint_of(const S3Fifo::Item& item) {
  return static_cast<const Item&>(item).fingerprint;
}

class S3FifoOrder : public ::testing::Test {
 protected:
  S3FifoOrder() { fifo_.set_ghost_window(900); }

  S3Fifo::Item& insert(std::uint32_t fingerprint, std::uint64_t bytes = 10) {
    items_.emplace_back(bytes, fingerprint);
    fifo_.insert(items_.back());
    return items_.back();
  }

  static void use(S3Fifo::Item& item, int times) {
    for (int i = 0; i < times; ++i) S3Fifo::touch(item);
  }

  std::uint32_t evicted(Part part) {
    const auto is_duplicate = [this](const auto& item) {
      return elsewhere_.contains(fingerprint_of(item));
    };
    const auto out = fifo_.evict(part, is_duplicate);
    EXPECT_EQ(out.is_duplicate, out.item && elsewhere_.contains(fingerprint_of(*out.item)));
    return out.item ? fingerprint_of(*out.item) : 0;
  }

  Budget budget_{1 << 20};
  std::atomic<std::uint64_t> small_bytes_ = 0;
  std::deque<Item> items_;
  std::set<std::uint32_t> elsewhere_;  // the fingerprints of duplicates
  S3Fifo fifo_{budget_, small_bytes_, fingerprint_of};
};

TEST_F(S3FifoOrder, SmallPartGivesTheOldestUnusedFirst) {
  for (std::uint32_t i = 1; i <= 3; ++i) insert(i);
  EXPECT_EQ(evicted(Part::small), 1U);
  EXPECT_EQ(evicted(Part::small), 2U);
  EXPECT_EQ(evicted(Part::main), 0U);
  EXPECT_EQ(evicted(Part::small), 3U);
  EXPECT_EQ(evicted(Part::small), 0U);
}

TEST_F(S3FifoOrder, OneUseIsNotEnoughForTheMainPart) {
  use(insert(1), 1);
  use(insert(2), 2);
  insert(3);
  EXPECT_EQ(evicted(Part::small), 1U);
  EXPECT_EQ(evicted(Part::small), 3U);  // 2 moved to main
  EXPECT_EQ(evicted(Part::main), 2U);
}

TEST_F(S3FifoOrder, WhatReturnsSoonGoesToMainAtOnce) {
  insert(1);
  EXPECT_EQ(evicted(Part::small), 1U);
  EXPECT_EQ(insert(1).part, Part::main);
}

TEST_F(S3FifoOrder, WhatReturnsLateDoesNot) {
  insert(1, 100);
  EXPECT_EQ(evicted(Part::small), 1U);
  for (std::uint32_t i = 2; i <= 11; ++i) {  // 1000 bytes: more than the ghosts' window
    insert(i, 100);
    EXPECT_EQ(evicted(Part::small), i);
  }
  EXPECT_EQ(insert(1, 100).part, Part::small);
}

TEST_F(S3FifoOrder, WhatPassedByGoesToMainWhenItReturns) {
  EXPECT_FALSE(fifo_.returns(1, 10));
  EXPECT_TRUE(fifo_.returns(1, 10));
  EXPECT_EQ(insert(1).part, Part::main);
  EXPECT_FALSE(fifo_.returns(1, 10)) << "it is no ghost any more";
}

TEST_F(S3FifoOrder, WhatPassedByIsForgottenAfterTheWindow) {
  EXPECT_FALSE(fifo_.returns(1, 100));
  for (std::uint32_t i = 2; i <= 11; ++i) EXPECT_FALSE(fifo_.returns(i, 100));
  EXPECT_FALSE(fifo_.returns(1, 100));
}

TEST_F(S3FifoOrder, UseInMainBuysARound) {
  for (std::uint32_t i : {1U, 2U}) {
    insert(i);
    evicted(Part::small);
  }
  use(insert(1), 1);
  insert(2);
  EXPECT_EQ(evicted(Part::main), 2U);
  EXPECT_EQ(evicted(Part::main), 1U);
}

TEST_F(S3FifoOrder, ReplacementKeepsPlaceAndUses) {
  S3Fifo::Item& old = insert(1);
  use(old, 2);
  insert(2);
  Item fresh(70, 1);
  fifo_.replace(old, fresh);
  EXPECT_EQ(small_bytes_, 80U);
  EXPECT_EQ(evicted(Part::small), 2U);  // 1 was in front of it and moved to main
  Item newer(80, 1);
  fifo_.replace(fresh, newer);
  EXPECT_EQ(fifo_.evict(Part::main, [](const auto&) { return false; }).item, &newer);
}

TEST_F(S3FifoOrder, ErasedItemIsNeverEvicted) {
  S3Fifo::Item& erased = insert(1);
  insert(2);
  fifo_.erase(erased);
  EXPECT_EQ(evicted(Part::small), 2U);
  EXPECT_EQ(evicted(Part::small), 0U);
}

TEST_F(S3FifoOrder, SmallBytesAreThoseOfTheSmallPart) {
  use(insert(1, 10), 2);
  insert(2, 20);
  insert(3, 30);
  EXPECT_EQ(small_bytes_, 60U);
  EXPECT_EQ(evicted(Part::small), 2U);
  EXPECT_EQ(small_bytes_, 30U);
}

TEST_F(S3FifoOrder, ADuplicateGoesBeforeOlderItems) {
  for (std::uint32_t i = 1; i <= 5; ++i) insert(i);
  elsewhere_ = {3, 4};
  for (const std::uint32_t expected : {3U, 4U, 1U, 2U, 5U}) {
    EXPECT_EQ(evicted(Part::small), expected);
  }
}

TEST_F(S3FifoOrder, ADuplicateHasNoSecondChance) {
  use(insert(1), 3);
  elsewhere_ = {1};
  EXPECT_EQ(evicted(Part::small), 1U);
  EXPECT_EQ(insert(1).part, Part::small) << "it became no ghost";
  elsewhere_.clear();
  use(items_.back(), 2);
  EXPECT_EQ(evicted(Part::small), 0U) << "it moved to main";
  use(items_.back(), 3);
  insert(2);
  elsewhere_ = {1};
  EXPECT_EQ(evicted(Part::main), 1U);
}

TEST_F(S3FifoOrder, ADuplicateFarFromItsTurnIsNotSearchedFor) {
  for (std::uint32_t i = 1; i <= 100; ++i) insert(i);
  elsewhere_ = {100};
  EXPECT_EQ(evicted(Part::small), 1U);
}

TEST(GhostList, RemembersUntilTheWindowHasPassed) {
  Budget budget(1000);
  GhostList ghosts(budget, 100);
  ghosts.remember(1, 50);
  ghosts.remember(2, 50);
  ghosts.remember(3, 50);
  EXPECT_TRUE(ghosts.recall(1));
  ghosts.remember(4, 51);
  EXPECT_FALSE(ghosts.recall(2));
  EXPECT_TRUE(ghosts.recall(3));
  EXPECT_FALSE(ghosts.recall(3));
}

TEST(GhostList, LaterRecordOutlivesAnEarlierOne) {
  Budget budget(1000);
  GhostList ghosts(budget, 100);
  ghosts.remember(1, 60);
  ghosts.remember(1, 60);
  ghosts.remember(2, 60);  // too old for the first record of 1
  EXPECT_TRUE(ghosts.recall(1));
}

TEST(GhostList, IsChargedForWhatItRemembers) {
  Budget budget(1 << 20);
  {
    GhostList ghosts(budget, 100);
    for (std::uint32_t i = 0; i < 1000; ++i) ghosts.remember(i, 10);
    EXPECT_EQ(ghosts.size(), 11U);
    EXPECT_GT(budget.used(), 0U);
    ghosts.clear();
    EXPECT_EQ(budget.used(), 0U);
    ghosts.remember(1, 10);
  }
  EXPECT_EQ(budget.used(), 0U);
}

}  // namespace
}  // namespace proxy::cache
