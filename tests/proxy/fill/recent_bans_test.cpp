#include "proxy/fill/recent_bans.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace {

using namespace std::chrono_literals;

const RecentBans::Time kNow{1000s};

TEST(RecentBans, CoverWhatWasAskedForNoLaterThanTheyCame) {
  RecentBans bans(10);
  bans.remember(Ban("http://a/"), kNow);
  EXPECT_TRUE(bans.may_cover("http://a/x", kNow));
  EXPECT_FALSE(bans.may_cover("http://a/x", kNow + 1ns));
  EXPECT_FALSE(bans.may_cover("http://b/x", kNow));
}

TEST(RecentBans, MayCoverEverythingThatIsOlderThanOneForgotten) {
  RecentBans bans(2);
  for (int i = 0; i < 3; ++i) bans.remember(Ban("http://" + std::to_string(i)), kNow + i * 1s);
  EXPECT_TRUE(bans.may_cover("http://else/", kNow));
  EXPECT_FALSE(bans.may_cover("http://else/", kNow + 1ns));
  EXPECT_TRUE(bans.may_cover("http://2/", kNow + 2s));
}

TEST(RecentBans, TheSameOnceMorePushesNoOtherOut) {
  RecentBans bans(2);
  bans.remember(Ban("http://b/"), kNow);
  for (int i = 0; i < 5; ++i) bans.remember(Ban("http://a/"), kNow + i * 1s);
  EXPECT_FALSE(bans.may_cover("http://else/", kNow - 1h));
  EXPECT_TRUE(bans.may_cover("http://b/", kNow));
  EXPECT_TRUE(bans.may_cover("http://a/", kNow + 4s));
}

}  // namespace
}  // namespace proxy
