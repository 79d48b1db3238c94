#include "proxy/sources/source_access.hpp"

#include <gtest/gtest.h>

namespace proxy::sources {
namespace {

using namespace std::chrono_literals;

const OriginTimes::Time kNow{1000s};

upstream::Endpoint host(const std::string& name) {
  return {false, name, 80, upstream::NamedBy::client};
}

TEST(OriginTimes, AreKnownPerOriginUntilTheyAreOld) {
  OriginTimes times;
  EXPECT_FALSE(times.find(host("a"), kNow).measured());
  times.record(host("a"), 8ms, kNow);
  times.record(host("a"), 16ms, kNow);
  EXPECT_EQ(times.find(host("a"), kNow).mean(), 9ms);
  EXPECT_FALSE(times.find(host("b"), kNow).measured());
  EXPECT_FALSE(times.find(host("a"), kNow + OriginTimes::kFades).measured());
  times.record(host("a"), 2ms, kNow + OriginTimes::kFades);
  EXPECT_EQ(times.find(host("a"), kNow + OriginTimes::kFades).mean(), 2ms);
}

TEST(OriginTimes, KnowHowOftenANeighbourFetchedWhatWasAskedFor) {
  OriginTimes times;
  times.record(host("a"), 8ms, kNow);
  for (int i = 0; i < 50; ++i) times.record_luck(host("a"), SiteLuck::Question::found, kNow);
  EXPECT_GT(times.luck_of(host("a"), kNow).share(), 0.9);
  EXPECT_EQ(times.find(host("a"), kNow).mean(), 8ms);
  times.record_luck(host("b"), SiteLuck::Question::in_vain, kNow);
  EXPECT_FALSE(times.find(host("b"), kNow).measured());
  EXPECT_LT(times.luck_of(host("b"), kNow).share(), SiteLuck().share());
  times.record_luck(host("a"), SiteLuck::Question::found, kNow + OriginTimes::kFades - 1s);
  EXPECT_FALSE(times.find(host("a"), kNow + OriginTimes::kFades).measured());
}

TEST(OriginTimes, ForgetTheOriginThatWasMeasuredLongestAgoBeyondTheLimit) {
  OriginTimes times(2);
  for (const char* name : {"a", "b", "a", "c"}) times.record(host(name), 1ms, kNow);
  EXPECT_TRUE(times.find(host("a"), kNow).measured());
  EXPECT_FALSE(times.find(host("b"), kNow).measured());
  EXPECT_TRUE(times.find(host("c"), kNow).measured());
}

TEST(Hedges, AreAShareOfTheRequestsAfterABurst) {
  Hedges hedges;
  int burst = 0;
  while (hedges.take()) ++burst;
  EXPECT_EQ(burst, Hedges::kBurst);
  int taken = 0;
  for (int i = 0; i < 1000; ++i) {
    hedges.earn();
    taken += hedges.take() ? 1 : 0;
  }
  EXPECT_NEAR(taken, 1000 * Hedges::kShare, 1);
}

}  // namespace
}  // namespace proxy::sources
