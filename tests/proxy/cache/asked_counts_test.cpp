#include "proxy/cache/asked_counts.hpp"

#include <gtest/gtest.h>

#include "tests/digest/keys.hpp"

namespace proxy::cache {
namespace {

using digest::quick_key;

class CountsOfRequests : public ::testing::Test {
 protected:
  void record(std::uint64_t first, std::uint64_t last) {
    for (auto i = first; i <= last; ++i) asked_.record(quick_key(i));
  }
  // How many of these URLs were requested at least so often.
  std::size_t held(std::uint64_t first, std::uint64_t last, unsigned times) const {
    std::size_t count = 0;
    for (auto i = first; i <= last; ++i) count += asked_.of(quick_key(i)) >= times ? 1 : 0;
    return count;
  }

  Budget budget_{1 << 20};
  AskedCounts asked_{budget_, 8000};
};

TEST_F(CountsOfRequests, CountUpToSeven) {
  EXPECT_EQ(held(1, 100, 1), 0U);
  record(1, 100);
  EXPECT_EQ(held(1, 100, 1), 100U);
  EXPECT_EQ(held(1, 100, 2), 0U);
  record(1, 50);
  EXPECT_EQ(held(1, 50, 2), 50U);
  EXPECT_EQ(held(1, 100, 2), 50U);
  for (int more = 0; more < 9; ++more) record(1, 10);
  EXPECT_EQ(held(1, 100, 3), 10U);
  EXPECT_EQ(held(1, 100, 7), 10U) << "a count that is full stays with its URL";
  EXPECT_EQ(asked_.of(quick_key(1)), AskedCounts::kMost);
  EXPECT_EQ(held(101, 200, 1), 0U) << "nothing is taken for another";
}

TEST_F(CountsOfRequests, BeginAnewOnceForgotten) {
  record(1, 2);
  record(1, 2);
  asked_.forget(quick_key(1));
  asked_.forget(quick_key(3));
  EXPECT_EQ(asked_.of(quick_key(1)), 0U);
  EXPECT_EQ(asked_.of(quick_key(2)), 2U);
  EXPECT_EQ(asked_.of(quick_key(3)), 0U);
  record(1, 1);
  EXPECT_EQ(asked_.of(quick_key(1)), 1U);
}

TEST_F(CountsOfRequests, ForgetTheOldestAndTakeNoMoreMemory) {
  EXPECT_EQ(budget_.used(), 8000U * 4);
  record(1, 10);
  record(1, 10);
  record(1000, 100'000);
  EXPECT_EQ(held(1, 10, 1), 0U);
  EXPECT_EQ(held(1000, 100'000, 2), 0U) << "nothing is taken for another";
  record(99'000, 100'000);
  EXPECT_GT(held(99'000, 100'000, 2), 900U) << "the newest are remembered";
  EXPECT_EQ(budget_.used(), 8000U * 4);
}

// Keys of URLs that a stranger has found by trying many: they agree in 8 of 16 bytes.
TEST_F(CountsOfRequests, ForgetNoUrlThatAStrangerAimsAt) {
  record(1, 1);
  record(1, 1);
  for (std::uint64_t i = 0; i < 20; ++i) {
    digest::Key aimed = quick_key(1);
    aimed.bytes[0] = static_cast<std::uint8_t>(aimed.bytes[0] + 4 + 4 * i);
    asked_.record(aimed);
  }
  EXPECT_EQ(asked_.of(quick_key(1)), 2U);
}

TEST_F(CountsOfRequests, TakeASmallShareOfTheMemory) {
  EXPECT_EQ(AskedCounts::fitting(256 << 20), 512U << 10);
  EXPECT_EQ(AskedCounts::fitting(0), 0U);
  EXPECT_LE(AskedCounts::fitting(UINT64_MAX), 4U << 20);
  AskedCounts none(budget_, 0);
  none.record(quick_key(1));
  none.record(quick_key(1));
  EXPECT_EQ(none.of(quick_key(1)), 2U);
}

}  // namespace
}  // namespace proxy::cache
