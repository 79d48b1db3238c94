#include "peers/first_byte.hpp"

#include <gtest/gtest.h>

namespace peers {
namespace {

using namespace std::chrono_literals;

FirstByte after(std::initializer_list<std::chrono::milliseconds> times) {
  FirstByte estimate;
  for (const auto time : times) estimate = estimate.with(time);
  return estimate;
}

TEST(FirstByte, IsUnmeasuredAtFirst) {
  EXPECT_FALSE(FirstByte().measured());
  EXPECT_EQ(FirstByte().mean(), 0us);
  EXPECT_EQ(FirstByte().packed(), 0U);
}

TEST(FirstByte, TheFirstTimeSetsTheMeanAndHalfOfItTheDeviation) {
  EXPECT_EQ(after({8ms}).mean(), 8ms);
  EXPECT_EQ(after({8ms}).p95(), 16ms);
}

TEST(FirstByte, LaterTimesMoveItByAnEighth) {
  EXPECT_EQ(after({8ms, 16ms}).mean(), 9ms);
  EXPECT_EQ(after({8ms, 8ms, 0ms}).mean(), 7ms);
}

TEST(FirstByte, SteadyTimesShrinkTheDeviation) {
  FirstByte estimate;
  for (int i = 0; i < 100; ++i) estimate = estimate.with(8ms);
  EXPECT_LT(estimate.p95(), 8100us);
}

TEST(FirstByte, ABadFirstTimeIsForgottenAndALaterBadOneIsNot) {
  EXPECT_EQ(after({1000ms, 2ms}).mean(), 2ms);
  EXPECT_EQ(after({2ms, 2ms, 1000ms}).mean(), 126750us);
  EXPECT_GT(after({2ms, 1000ms, 2ms}).mean(), 100ms);
}

TEST(FirstByte, ATimeThatWasCutShortNeverLowersIt) {
  EXPECT_EQ(after({8ms}).with_at_least(5ms).mean(), 8ms);
  EXPECT_EQ(after({8ms}).with_at_least(16ms).mean(), 9ms);
  EXPECT_EQ(FirstByte().with_at_least(5ms).mean(), 5ms);
}

TEST(FirstByte, FitsInOneWord) {
  for (const auto& estimate :
       {FirstByte(), after({8ms}), after({8ms, 9ms}), after({2h, 3h, 0ms}), after({-5ms})}) {
    const auto back = FirstByte::from(estimate.packed());
    EXPECT_EQ(back.mean(), estimate.mean());
    EXPECT_EQ(back.p95(), estimate.p95());
    EXPECT_EQ(back.measured(), estimate.measured());
    EXPECT_EQ(back.with(1ms).mean(), estimate.with(1ms).mean());
  }
}

}  // namespace
}  // namespace peers
