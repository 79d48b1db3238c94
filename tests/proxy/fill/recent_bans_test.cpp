#include "proxy/fill/recent_bans.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace {

using namespace std::chrono_literals;

const RecentBans::Time kOrdered{1000s};

TEST(RecentBans, CoverWhatWasAskedForNoLaterThanTheyCame) {
  RecentBans bans(10);
  bans.remember(Ban("http://a/"), kOrdered);
  EXPECT_TRUE(bans.may_cover("http://a/x", kOrdered));
  EXPECT_FALSE(bans.may_cover("http://a/x", kOrdered + 1ns));
  EXPECT_FALSE(bans.may_cover("http://b/x", kOrdered));
}

TEST(RecentBans, MayCoverEverythingThatIsOlderThanOneForgotten) {
  RecentBans bans(2);
  for (int i = 0; i < 3; ++i) bans.remember(Ban("http://" + std::to_string(i)), kOrdered + i * 1s);
  EXPECT_TRUE(bans.may_cover("http://else/", kOrdered));
  EXPECT_FALSE(bans.may_cover("http://else/", kOrdered + 1ns));
  EXPECT_TRUE(bans.may_cover("http://2/", kOrdered + 2s));
}

TEST(RecentBans, TheSameOnceMorePushesNoOtherOut) {
  RecentBans bans(2);
  bans.remember(Ban("http://b/"), kOrdered);
  for (int i = 0; i < 5; ++i) bans.remember(Ban("http://a/"), kOrdered + i * 1s);
  EXPECT_FALSE(bans.may_cover("http://else/", kOrdered - 1h));
  EXPECT_TRUE(bans.may_cover("http://b/", kOrdered));
  EXPECT_TRUE(bans.may_cover("http://a/", kOrdered + 4s));
}

}  // namespace
}  // namespace proxy
