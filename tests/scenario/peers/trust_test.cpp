// What a neighbour is trusted with, and what bounds that trust.
#include <gtest/gtest.h>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

const Fields kOnlyIfCached{{"Cache-Control", "only-if-cached"}};

TEST(Trust, AResponseThatSetsACookieIsNeitherClaimedNorGivenToANeighbour) {
  Scene scene;
  scene.origin.on("/a", cacheable("hello", "public, max-age=60").with("Set-Cookie", "a=b"));
  scene.origin.on("/b", cacheable("hello"));
  const std::string url = scene.origin.url("/a");
  for (const char* path : {"/a", "/b"}) scene.client.get(scene.origin.url(path));
  EXPECT_TRUE(await([&] { return scene.proxy.digest().at("entries") == 1; }));
  const Response refused = scene.client.get(url, kOnlyIfCached);
  EXPECT_EQ(refused.status, 504);
  EXPECT_FALSE(refused.has("Set-Cookie"));
  EXPECT_TRUE(contains(refused.field("Cache-Status"), "refused/set-cookie"));
  EXPECT_TRUE(is_hit(scene.client.get(url))) << "our own clients have it from the cache";
  EXPECT_EQ(scene.origin.count("/a"), 1U);
}

TEST(Trust, AResponseThatSetsACookieIsTakenFromNoNeighbour) {
  PeerScene scene({"/a", "/b"});
  scene.peer.on("/a", cacheable("from the peer", "public, max-age=60").with("Set-Cookie", "a=b"));
  scene.peer.on(
      "/b",
      cacheable("from the peer", "max-age=60, no-cache=\"set-cookie\"").with("Set-Cookie", "a=b"));
  for (const char* path : {"/a", "/b"}) {
    const Response response = scene.client->get(scene.origin.url(path));
    EXPECT_EQ(response.body, "from the origin") << path;
    EXPECT_FALSE(response.has("Set-Cookie")) << path;
    EXPECT_TRUE(contains(response.field("Cache-Status"), "unusable/b")) << path;
  }
  EXPECT_EQ(scene.books().at("true_hits"), 0);
  EXPECT_EQ(scene.books().at("state"), "usable") << "it did nothing wrong";
}

}  // namespace
}  // namespace scenario
