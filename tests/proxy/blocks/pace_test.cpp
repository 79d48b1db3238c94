#include "proxy/blocks/pace.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace {

using namespace std::chrono_literals;

TEST(Pace, IsStarvedByWaitingMoreThanHalfOfTheTime) {
  Pace pace;
  EXPECT_FALSE(pace.starved());
  pace.note(10ms, 6ms);
  EXPECT_TRUE(pace.starved());
  pace.note(10ms, 5ms);
  EXPECT_FALSE(pace.starved());
}

TEST(Pace, IsSlowOnceTwoBlocksInARowWere) {
  Pace pace;
  pace.note(200ms, 190ms);
  EXPECT_FALSE(pace.slow()) << "every connection begins slowly";
  pace.note(Pace::kSlow, 110ms);
  EXPECT_TRUE(pace.slow());
  pace.note(119ms, 110ms);
  EXPECT_FALSE(pace.slow());
  pace.note(300ms, 100ms);
  pace.note(300ms, 100ms);
  EXPECT_FALSE(pace.slow()) << "the reader is";
}

}  // namespace
}  // namespace proxy
