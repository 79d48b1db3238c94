#include "proxy/cache/s3_fifo.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace proxy::cache {
namespace {

class S3FifoOrder : public ::testing::Test {
 protected:
  ~S3FifoOrder() override {
    while (fifo_.evict()) continue;
  }

  S3Fifo::Item& insert(std::uint64_t fingerprint, std::uint64_t bytes = 10) {
    items_.emplace_back(bytes, fingerprint);
    fifo_.insert(items_.back());
    return items_.back();
  }

  static void use(S3Fifo::Item& item, int times) {
    for (int i = 0; i < times; ++i) S3Fifo::touch(item);
  }

  std::uint64_t evicted() {
    const S3Fifo::Item* item = fifo_.evict();
    return item ? item->fingerprint : 0;
  }

  Budget budget_{1 << 20};
  std::deque<S3Fifo::Item> items_;
  S3Fifo fifo_{budget_, 1000};  // of which 100 are the small queue's
};

TEST_F(S3FifoOrder, EvictsTheOldestUnusedFirst) {
  for (std::uint64_t i = 1; i <= 3; ++i) insert(i);
  EXPECT_EQ(evicted(), 1U);
  EXPECT_EQ(evicted(), 2U);
  EXPECT_EQ(evicted(), 3U);
  EXPECT_EQ(fifo_.evict(), nullptr);
}

TEST_F(S3FifoOrder, OneUseIsNotEnoughForTheMainQueue) {
  use(insert(1, 100), 1);
  use(insert(2, 100), 2);
  EXPECT_EQ(evicted(), 1U);
  insert(3, 100);
  EXPECT_EQ(evicted(), 3U);  // 2 went to main instead
  EXPECT_TRUE(items_[1].in_main);
}

TEST_F(S3FifoOrder, ScanLeavesTheMainQueueAlone) {
  for (std::uint64_t i = 1; i <= 10; ++i) use(insert(i), 2);
  for (std::uint64_t scan = 100; scan < 1100; ++scan) {
    insert(scan);
    if (scan >= 110) {
      EXPECT_GE(evicted(), 100U);
    }
  }
}

TEST_F(S3FifoOrder, WhatReturnsSoonGoesToMainAtOnce) {
  insert(1, 100);
  EXPECT_EQ(evicted(), 1U);
  EXPECT_TRUE(insert(1, 100).in_main);
}

TEST_F(S3FifoOrder, WhatReturnsLateDoesNot) {
  insert(1, 100);
  EXPECT_EQ(evicted(), 1U);
  for (std::uint64_t i = 2; i <= 12; ++i) {  // 1100 bytes: further back than main is large
    insert(i, 100);
    EXPECT_EQ(evicted(), i);
  }
  EXPECT_FALSE(insert(1, 100).in_main);
}

TEST_F(S3FifoOrder, UseInMainBuysARound) {
  for (std::uint64_t i : {1, 2}) {
    insert(i, 100);
    evicted();
  }
  S3Fifo::Item& used = insert(1);
  insert(2);
  use(used, 1);
  EXPECT_EQ(evicted(), 2U);
  EXPECT_EQ(evicted(), 1U);
}

TEST_F(S3FifoOrder, ReplacementKeepsPlaceAndUses) {
  S3Fifo::Item& old = insert(1, 60);
  use(old, 2);
  insert(2, 100);
  S3Fifo::Item fresh(70, 1);
  fifo_.replace(old, fresh);
  EXPECT_EQ(evicted(), 2U);  // 1 stood in front of it, and moved to main
  EXPECT_TRUE(fresh.in_main);
  S3Fifo::Item newer(80, 1);
  fifo_.replace(fresh, newer);
  EXPECT_TRUE(newer.in_main);
  EXPECT_EQ(fifo_.evict(), &newer);
}

TEST_F(S3FifoOrder, ErasedItemIsNeverEvicted) {
  S3Fifo::Item& erased = insert(1);
  insert(2);
  fifo_.erase(erased);
  EXPECT_EQ(evicted(), 2U);
  EXPECT_EQ(fifo_.evict(), nullptr);
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
  ghosts.remember(2, 60);  // the first record of 1 has passed
  EXPECT_TRUE(ghosts.recall(1));
}

TEST(GhostList, IsChargedForWhatItRemembers) {
  Budget budget(1 << 20);
  {
    GhostList ghosts(budget, 100);
    for (std::uint64_t i = 0; i < 1000; ++i) ghosts.remember(i, 10);
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
