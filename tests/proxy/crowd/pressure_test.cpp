#include "proxy/crowd/pressure.hpp"

#include <gtest/gtest.h>

namespace proxy::crowd {
namespace {

using namespace std::chrono_literals;

Pressure with(std::uint64_t used) {
  cache::Budget transit(1000);
  const cache::Charge charge(transit, used);
  return pressure_on(transit);
}

TEST(Pressure, GrowsWithTheBytesOnTheirWay) {
  EXPECT_EQ(with(1000), Pressure::none);
  EXPECT_EQ(with(1001), Pressure::scarce);
  EXPECT_EQ(with(1500), Pressure::scarce);
  EXPECT_EQ(with(1501), Pressure::critical);
  EXPECT_EQ(with(2000), Pressure::critical);
  EXPECT_EQ(with(2001), Pressure::full);
}

TEST(Pressure, LeavesEachBodyLess) {
  for (const auto pressure : {Pressure::scarce, Pressure::critical}) {
    const auto less = static_cast<Pressure>(static_cast<int>(pressure) - 1);
    EXPECT_LT(window_at(pressure), window_at(less));
    EXPECT_LT(block_at(pressure), block_at(less));
  }
}

TEST(LastTime, IsWithinItsPastAndNoLonger) {
  LastTime last;
  const LastTime::Clock::time_point now(1h);
  EXPECT_FALSE(last.within(1h, now)) << "it never happened";
  last.record(now);
  EXPECT_TRUE(last.within(1s, now + 1s));
  EXPECT_FALSE(last.within(1s, now + 1001ms));
}

}  // namespace
}  // namespace proxy::crowd
