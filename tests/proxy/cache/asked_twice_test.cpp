#include "proxy/cache/disk_tier/asked_twice.hpp"

#include <gtest/gtest.h>

#include "tests/digest/keys.hpp"

namespace proxy::cache {
namespace {

using digest::quick_key;

class TwiceAsked : public ::testing::Test {
 protected:
  void note(std::uint64_t first, std::uint64_t last) {
    for (auto i = first; i <= last; ++i) asked_.note(quick_key(i));
  }
  std::size_t held(std::uint64_t first, std::uint64_t last) const {
    std::size_t count = 0;
    for (auto i = first; i <= last; ++i) count += asked_.holds(quick_key(i)) ? 1 : 0;
    return count;
  }

  Budget budget_{1 << 20};
  AskedTwice asked_{budget_, 8000};
};

TEST_F(TwiceAsked, HoldsWhatWasAskedForTwice) {
  EXPECT_EQ(held(1, 100), 0U);
  note(1, 100);
  EXPECT_EQ(held(1, 100), 0U) << "once";
  note(1, 50);
  EXPECT_EQ(held(1, 50), 50U);
  EXPECT_EQ(held(51, 100), 0U);
  note(1, 100);
  EXPECT_EQ(held(1, 100), 100U) << "more often is twice too";
}

TEST_F(TwiceAsked, ForgetsTheOldestAndTakesNoMoreMemory) {
  EXPECT_EQ(budget_.used(), 8000U * 4);
  note(1, 10);
  note(1, 10);
  note(1000, 100'000);
  EXPECT_EQ(held(1, 10), 0U);
  EXPECT_EQ(held(1000, 100'000), 0U) << "nothing is taken for another";
  note(99'000, 100'000);
  EXPECT_GT(held(99'000, 100'000), 900U) << "the newest are remembered";
  EXPECT_EQ(budget_.used(), 8000U * 4);
}

// Keys of URLs that a stranger has found by trying many: they agree in 8 of 16 bytes.
TEST_F(TwiceAsked, ForgetsNoUrlThatAStrangerAimsAt) {
  note(1, 1);
  note(1, 1);
  for (std::uint64_t i = 0; i < 20; ++i) {
    digest::Key aimed = quick_key(1);
    aimed.bytes[0] = static_cast<std::uint8_t>(aimed.bytes[0] + 2 + i);
    asked_.note(aimed);
  }
  EXPECT_EQ(held(1, 1), 1U);
}

TEST_F(TwiceAsked, TakesASmallShareOfTheMemory) {
  EXPECT_EQ(AskedTwice::fitting(256 << 20), 512U << 10);
  EXPECT_EQ(AskedTwice::fitting(0), 0U);
  EXPECT_LE(AskedTwice::fitting(UINT64_MAX), 4U << 20);
  AskedTwice none(budget_, 0);
  none.note(quick_key(1));
  none.note(quick_key(1));
  EXPECT_TRUE(none.holds(quick_key(1)));
}

}  // namespace
}  // namespace proxy::cache
