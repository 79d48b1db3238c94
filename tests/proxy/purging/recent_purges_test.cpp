#include "proxy/purging/recent_purges.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace {

using namespace std::chrono_literals;

const RecentPurges::Time kOrdered{1000s};

TEST(RecentPurges, CoverWhatWasAskedForNoLaterThanTheyCame) {
  RecentPurges purges(10);
  purges.remember(PurgePattern("http://a/"), kOrdered);
  EXPECT_TRUE(purges.may_cover("http://a/x", kOrdered));
  EXPECT_FALSE(purges.may_cover("http://a/x", kOrdered + 1ns));
  EXPECT_FALSE(purges.may_cover("http://b/x", kOrdered));
}

TEST(RecentPurges, MayCoverEverythingThatIsOlderThanOneForgotten) {
  RecentPurges purges(2);
  for (int i = 0; i < 3; ++i)
    purges.remember(PurgePattern("http://" + std::to_string(i)), kOrdered + i * 1s);
  EXPECT_TRUE(purges.may_cover("http://else/", kOrdered));
  EXPECT_FALSE(purges.may_cover("http://else/", kOrdered + 1ns));
  EXPECT_TRUE(purges.may_cover("http://2/", kOrdered + 2s));
}

TEST(RecentPurges, TheSameOnceMorePushesNoOtherOut) {
  RecentPurges purges(2);
  purges.remember(PurgePattern("http://b/"), kOrdered);
  for (int i = 0; i < 5; ++i) purges.remember(PurgePattern("http://a/"), kOrdered + i * 1s);
  EXPECT_FALSE(purges.may_cover("http://else/", kOrdered - 1h));
  EXPECT_TRUE(purges.may_cover("http://b/", kOrdered));
  EXPECT_TRUE(purges.may_cover("http://a/", kOrdered + 4s));
}

}  // namespace
}  // namespace proxy
