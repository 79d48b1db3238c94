// What one proxy mirrors, its neighbour gives.
#include <gtest/gtest.h>

#include "tests/scenario/mirrors/mirror_scene.hpp"

namespace scenario {
namespace {

TEST(MirrorPeers, GiveWhatTheOtherHoldsAlsoWithoutTheOrigin) {
  HttpsOrigin origin;
  for (const char* path : {"/a", "/b+%2b"}) origin.plain.on(path, cacheable(path));
  const Neighbours site(origin.settings());
  MirrorClient a(site.a);
  MirrorClient b(site.b);
  for (const char* path : {"/a", "/b+%2b"}) {
    EXPECT_EQ(a.get(mirror_path(origin.url(path))).body, path);
    EXPECT_TRUE(is_hit(a.get(mirror_path(origin.url(path)))));
  }
  ASSERT_TRUE(site.b_knows(2));
  const auto given = b.get(mirror_path(origin.url("/a")));
  EXPECT_EQ(given.body, "/a");
  EXPECT_TRUE(contains(nearest_cache_status(given), "peer/a")) << nearest_cache_status(given);
  EXPECT_EQ(origin.plain.count(), 2U);
  origin.front.stop();
  // The neighbour knows the URL under one name, however it is spelled.
  EXPECT_EQ(b.get(mirror_path(origin.url("/b%2b%2B"))).body, "/b+%2b");
  EXPECT_EQ(b.get(mirror_path(origin.url("/a"))).body, "/a");
  EXPECT_EQ(a.get(mirror_path(origin.url("/a"))).body, "/a");
}

TEST(MirrorPeers, GiveToEachOtherWhereNobodyMayUseThemAsProxies) {
  HttpsOrigin origin;
  origin.plain.on("/a", cacheable("hello"));
  auto settings = origin.settings();
  settings["forward"] = false;
  const Neighbours site(settings);
  MirrorClient(site.a).get(mirror_path(origin.url("/a")));
  ASSERT_TRUE(site.b_knows(1));
  EXPECT_EQ(MirrorClient(site.b).get(mirror_path(origin.url("/a"))).body, "hello");
  EXPECT_EQ(origin.plain.count(), 1U);
}

// What only some may see is not told to neighbours, nor asked of them.
TEST(MirrorPeers, LearnOfNothingButWhatAnAnonymousRequestGets) {
  HttpsOrigin origin;
  origin.plain.otherwise([](const Request&) { return cacheable("hello", "public, max-age=600"); });
  // Site collapse asks for what is not claimed, too.
  const Neighbours site(origin.settings());
  MirrorClient a(site.a);
  a.get(mirror_path(origin.url("/secret")), {{"Authorization", "Bearer x"}});
  Client(site.a.port()).get(origin.url("/cookie"), {{"Cookie", "a=b"}});
  a.get(mirror_path(origin.url("/open")));
  ASSERT_TRUE(site.b_knows(1));
  MirrorClient b(site.b);
  b.get(mirror_path(origin.url("/open")));
  b.get(mirror_path(origin.url("/cookie")));
  b.get(mirror_path(origin.url("/secret")));
  EXPECT_EQ(origin.plain.count("/open"), 1U);
  EXPECT_EQ(origin.plain.count("/cookie"), 2U);
  EXPECT_EQ(origin.plain.count("/secret"), 2U);
}

TEST(MirrorPeers, LearnOfNothingWhereNothingIsShared) {
  HttpsOrigin origin;
  origin.plain.otherwise([](const Request&) { return cacheable("hello"); });
  ScriptedOrigin plain;
  plain.otherwise([](const Request&) { return cacheable("plain"); });
  auto settings = origin.settings();
  settings["mirrors"]["share"] = "none";
  const Neighbours site(settings);
  MirrorClient a(site.a);
  a.get(mirror_path(origin.url("/a")));
  Client(site.a.port()).get(plain.url("/a"));
  ASSERT_TRUE(site.b_knows(1));
  MirrorClient b(site.b);
  b.get(mirror_path(origin.url("/a")));
  EXPECT_EQ(origin.plain.count(), 2U);
}

// Also of what was stored while all was shared.
TEST(MirrorPeers, GetNothingMoreOnceNothingIsShared) {
  HttpsOrigin origin;
  origin.plain.otherwise([](const Request&) { return cacheable("hello"); });
  auto settings = origin.settings();
  Neighbours site(settings);
  MirrorClient a(site.a);
  const auto path = mirror_path(origin.url("/a"));
  a.get(path);
  ASSERT_TRUE(site.b_knows(1));
  settings["mirrors"]["share"] = "none";
  site.a.reload(with_peer("b", site.at_b.port(), Neighbours::named("a", settings)));
  EXPECT_EQ(MirrorClient(site.b).get(path).body, "hello");
  EXPECT_EQ(origin.plain.count(), 2U);
  EXPECT_TRUE(is_hit(a.get(path)));
}

}  // namespace
}  // namespace scenario
