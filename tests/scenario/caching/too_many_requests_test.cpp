// An origin that is asked too often (429, RFC 6585): a stored response stands in for it (RFC 5861),
// and what the proxy asks of its own accord waits for as long as the origin wants.
#include <gtest/gtest.h>

#include "tests/scenario/caching/ways.hpp"

namespace scenario {
namespace {

Reply too_many(const std::string& retry_after = "60", int status = 429) {
  return Reply(status, {{"Retry-After", retry_after}}).body("slow down");
}

class TooManyRequests : public testing::TestWithParam<WayThrough> {};
INSTANTIATE_TEST_SUITE_P(Ways, TooManyRequests, testing::ValuesIn(kWays),
                         [](const auto& way) { return way.param.name; });

TEST_P(TooManyRequests, AStoredResponseStandsInWhereItMay) {
  WayStage stage(GetParam());
  stage.origin.on("/a", cacheable("old", "max-age=0, stale-if-error=60").with("ETag", "\"v1\""));
  stage.origin.on("/b", cacheable("old", "max-age=0").with("ETag", "\"v1\""));
  stage.get("/a");
  stage.get("/b");
  for (const char* path : {"/a", "/b"}) stage.origin.on(path, too_many());
  const Response stale = stage.get("/a");
  EXPECT_EQ(stale.status, 200);
  EXPECT_EQ(stale.body, "old");
  EXPECT_TRUE(contains(stale.field("Cache-Status"), "\"stale-if-error/429\"") ||
              contains(stale.field("Cache-Status"), "\"stale-if-error/429 "))
      << stale.field("Cache-Status");
  EXPECT_TRUE(contains(stale.field("Cache-Status"), "fwd-status=429"));
  const Response refused = stage.get("/b");
  EXPECT_EQ(refused.status, 429) << "nothing allows a stale one";
  EXPECT_EQ(refused.body, "slow down");
  EXPECT_EQ(refused.field("Retry-After"), "60");
  EXPECT_EQ(stage.get("/a", {{"Cache-Control", "no-cache"}}).status, 429);
}

TEST_P(TooManyRequests, AreNeverStored) {  // RFC 6585 4
  WayStage stage(GetParam());
  stage.origin.on("/a", too_many().with("Cache-Control", "max-age=60"));
  EXPECT_EQ(stage.get("/a").status, 429);
  stage.origin.on("/a", cacheable("well"));
  EXPECT_EQ(stage.get("/a").body, "well");
}

TEST_P(TooManyRequests, NoRefreshIsBegunBeforeTheOriginWantsOne) {
  for (const int status : {429, 503}) {
    WayStage stage(GetParam(), json{{"threads", 1}});
    stage.origin.on("/a", cacheable("old", "max-age=0, stale-while-revalidate=60"));
    stage.get("/a");
    stage.origin.on("/a", too_many("60", status));
    EXPECT_EQ(stage.get("/a").body, "old");
    ASSERT_TRUE(stage.origin.await_requests("/a", 2)) << "a refresh";
    EXPECT_EQ(stage.get("/b").status, 404) << "a client's own request is passed on";
    for (int i = 0; i < 5; ++i) EXPECT_EQ(stage.get("/a").body, "old");
    stage.get("/b");
    EXPECT_EQ(stage.origin.count("/a"), 2U) << status;
    EXPECT_EQ(stage.origin.count("/b"), 2U) << status;
  }
}

TEST_P(TooManyRequests, TheOriginIsRefreshedFromOnceItsTimeIsOver) {
  WayStage stage(GetParam(), json{{"threads", 1}});
  stage.origin.on("/a", cacheable("old", "max-age=0, stale-while-revalidate=60"));
  stage.get("/a");
  stage.origin.on("/a", too_many("1"));
  EXPECT_EQ(stage.get("/a").body, "old");
  ASSERT_TRUE(stage.origin.await_requests("/a", 2));
  stage.origin.on("/a", cacheable("new"));
  EXPECT_TRUE(await([&] { return stage.get("/a").body == "new"; }));
}

// A neighbour gives /a, /b and /c, and each is compared with the origin's.
TEST(TooManyRequests, NoNeighbourIsCheckedAgainstAnOriginThatWantsRest) {
  PeerScene scene({"/a", "/b", "/c"}, json{{"threads", 1}, {"digest", {{"check_sample", 1}}}});
  scene.peer.otherwise([](const Request&) { return cacheable("from the origin"); });
  EXPECT_EQ(scene.get("/a").body, "from the origin");
  ASSERT_TRUE(scene.origin.await_requests("/a", 1)) << "a check";
  scene.origin.on("/x", too_many());
  EXPECT_EQ(scene.get("/x").status, 429);
  EXPECT_EQ(scene.get("/b").body, "from the origin");
  EXPECT_EQ(scene.get("/c").body, "from the origin");
  EXPECT_EQ(scene.get("/y").body, "from the origin");
  EXPECT_EQ(scene.peer.count("/b") + scene.peer.count("/c"), 2U);
  EXPECT_EQ(scene.origin.count("/b") + scene.origin.count("/c"), 0U);
}

}  // namespace
}  // namespace scenario
