#include "proxy/fill/fills.hpp"

#include <gtest/gtest.h>

#include <string>

namespace proxy::fill {
namespace {

using namespace std::chrono_literals;

const RecentKeys::Time kBegin{1000s};

digest::Key key(int number) {
  return digest::key_of(digest::Method::get, "http://a/" + std::to_string(number));
}

TEST(RecentKeys, HoldsAKeyUntilItsTime) {
  RecentKeys keys(10);
  keys.remember(key(1), kBegin + 10s);
  EXPECT_TRUE(keys.holds(key(1), kBegin + 9s));
  EXPECT_FALSE(keys.holds(key(1), kBegin + 10s));
  EXPECT_FALSE(keys.holds(key(2), kBegin));
  keys.remember(key(1), kBegin + 20s);
  EXPECT_TRUE(keys.holds(key(1), kBegin + 19s));
}

TEST(RecentKeys, KeepsTheLaterOfTwoTimesInWhateverOrderTheyCome) {
  RecentKeys keys(10);
  keys.remember(key(1), kBegin + 20s);
  keys.remember(key(1), kBegin + 10s);
  EXPECT_TRUE(keys.holds(key(1), kBegin + 19s));
}

TEST(RecentKeys, ForgetsTheFirstToComeBeyondItsCapacity) {
  RecentKeys keys(3);
  for (int i = 0; i < 4; ++i) keys.remember(key(i), kBegin + 10s);
  keys.remember(key(3), kBegin + 10s);
  EXPECT_FALSE(keys.holds(key(0), kBegin));
  for (int i = 1; i < 4; ++i) EXPECT_TRUE(keys.holds(key(i), kBegin)) << i;
}

TEST(RecentKeys, MayHoldWhatItHadToForget) {
  RecentKeys keys(1);
  keys.remember(key(1), kBegin + 10s);
  EXPECT_FALSE(keys.may_hold(key(2), kBegin));
  keys.remember(key(2), kBegin + 20s);
  EXPECT_TRUE(keys.may_hold(key(1), kBegin + 9s));
  EXPECT_FALSE(keys.may_hold(key(1), kBegin + 10s));
}

}  // namespace
}  // namespace proxy::fill
