#include "proxy/cache/purge_pattern.hpp"

#include <gtest/gtest.h>

namespace proxy::cache {
namespace {

http::HostPattern hosts(std::string_view text) {
  return http::HostPattern(config::parse_host_pattern(text).value());
}

struct BanCase {
  PurgePattern purge;
  std::string name;
  bool covers;
};

TEST(PurgePattern, CoversUrlsByHowTheyBeginOrByTheirHostInBothKeySpaces) {
  const BanCase cases[] = {
      {PurgePattern("http://a.test/x/"), "http://a.test/x/", true},
      {PurgePattern("http://a.test/x/"), "http://a.test/x/y?z", true},
      {PurgePattern("http://a.test/x/"), "http://a.test/x", false},
      {PurgePattern("http://a.test/x/"), "https://a.test/x/", false},
      {PurgePattern("http://a.test/x/"), "reverse:http://a.test/x/y", true},
      {PurgePattern(hosts("a.test")), "http://a.test/", true},
      {PurgePattern(hosts("a.test")), "https://a.test/x", true},
      {PurgePattern(hosts("a.test")), "http://a.test:8080/x", true},
      {PurgePattern(hosts("a.test")), "http://b.test/http://a.test/", false},
      {PurgePattern(hosts("a.test")), "reverse:http://a.test/x:1", true},
      {PurgePattern(hosts("a.test:80")), "http://a.test/x", true},
      {PurgePattern(hosts("a.test:80")), "https://a.test/x", false},
      {PurgePattern(hosts("a.test:443")), "https://a.test/x", true},
      {PurgePattern(hosts("a.test:8080")), "http://a.test:8080/x", true},
      {PurgePattern(hosts("[2001:db8::1]")), "http://[2001:db8::1]/x", true},
      {PurgePattern(hosts("[2001:db8::1]:81")), "http://[2001:db8::1]:81/x", true},
      {PurgePattern(hosts("[2001:db8::1]:81")), "http://[2001:db8::1]/x", false},
      {PurgePattern(hosts("*.a.test")), "http://b.a.test/", true},
      {PurgePattern(hosts("*.a.test")), "http://a.test/", false},
      {PurgePattern(hosts("*")), "reverse:/without/a/host", true},
      {PurgePattern(hosts("a.test")), "reverse:/http://a.test/", false},
      // Records of digests, which may lead to any URL.
      {PurgePattern("http://a.test/x/"), "content:sha256:00", true},
      {PurgePattern(hosts("a.test")), "content:sha256:00", true},
      {PurgePattern(Giver{3}), "content:sha256:00", false},
  };
  for (const auto& c : cases) EXPECT_EQ(c.purge.covers(c.name), c.covers) << c.name;
}

TEST(PurgePattern, CoversAllThatANeighbourGaveWhateverItsName) {
  const PurgePattern purge(cache::Giver{7});
  EXPECT_TRUE(purge.covers("http://a.test/", 7));
  EXPECT_FALSE(purge.covers("http://a.test/", 8));
  EXPECT_FALSE(purge.covers("http://a.test/")) << "the origin gave it";
  EXPECT_TRUE(purge.is_by_giver());
  EXPECT_FALSE(PurgePattern("giver:7").is_by_giver());
  EXPECT_TRUE(PurgePattern("http://a.test/").covers("http://a.test/", 7));
}

TEST(PurgePattern, OfANeighbourIsWrittenAndReadAsText) {
  const PurgePattern purge(cache::Giver{127});
  EXPECT_EQ(purge.text(), "giver:127");
  EXPECT_EQ(PurgePattern::of_text("giver:127"), purge);
  const auto covers = PurgePattern::reading("giver:127");
  EXPECT_TRUE(covers("http://a.test/", 127));
  EXPECT_FALSE(covers("http://a.test/", 126));
  for (const char* unknown : {"giver:", "giver:0", "giver:128", "giver:x"}) {
    EXPECT_EQ(PurgePattern::of_text(unknown), PurgePattern("")) << unknown;
  }
}

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
}  // namespace proxy::cache
