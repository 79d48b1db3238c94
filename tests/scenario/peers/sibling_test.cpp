// A neighbour that asks with only-if-cached receives 200, 304 or 504, and no other status.
#include <gtest/gtest.h>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

const Fields kOnlyIfCached{{"Cache-Control", "max-age=259200, only-if-cached"},
                           {"Via", "1.1 squid-a.test (squid/5.7)"}};

TEST(Sibling, AnswersFromTheCacheOr504) {
  Scene scene;
  scene.origin.on("/a", cacheable("hello").with("ETag", "\"v1\""));
  const std::string url = scene.origin.url("/a");
  EXPECT_EQ(scene.client.get(url, kOnlyIfCached).status, 504);
  scene.client.get(url);
  EXPECT_EQ(scene.client.get(url, kOnlyIfCached).body, "hello");
  Fields conditional = kOnlyIfCached;
  conditional.emplace_back("If-None-Match", "\"v1\"");
  EXPECT_EQ(scene.client.get(url, conditional).status, 304);
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(Sibling, KeepsTheConnectionAfterA504) {
  Scene scene;
  for (int i = 0; i < 3; ++i) {
    const Response response = scene.client.get(scene.origin.url("/a"), kOnlyIfCached);
    EXPECT_EQ(response.status, 504);
    EXPECT_LT(response.body.size(), 200U);
  }
}

TEST(Sibling, NeverAsksAnotherNeighbour) {
  PeerScene scene({"/a"});
  scene.peer.on("/a", cacheable("from the peer"));
  EXPECT_EQ(scene.client->get(scene.origin.url("/a"), kOnlyIfCached).status, 504);
  EXPECT_EQ(scene.peer.count("/a"), 0U);
  EXPECT_EQ(scene.origin.count("/a"), 0U);
}

TEST(Sibling, RefusesStaleWith504) {
  Scene scene;
  scene.origin.on("/a", cacheable("hello", "max-age=0").with("ETag", "\"v1\""));
  scene.client.get(scene.origin.url("/a"));
  EXPECT_EQ(scene.client.get(scene.origin.url("/a"), kOnlyIfCached).status, 504);
  EXPECT_EQ(scene.origin.count(), 1U);
}

// Squid passes a sibling's 403 and 508 on to its user.
TEST(Sibling, Says504WhereAnyOtherRefusalWouldStand) {
  const std::pair<const char*, json> refusals[] = {
      {"client", {{"access", {{"clients", {"192.0.2.1"}}}}}},
      {"destination", {{"access", {{"deny_to", {"loopback"}}}}}},
      {"loop", {{"name", "squid-a.test"}}},
  };
  for (const auto& [name, settings] : refusals) {
    Scene scene(settings);
    EXPECT_EQ(scene.client.get(scene.origin.url("/a"), kOnlyIfCached).status, 504) << name;
    EXPECT_EQ(scene.origin.count(), 0U) << name;
  }
}

}  // namespace
}  // namespace scenario
