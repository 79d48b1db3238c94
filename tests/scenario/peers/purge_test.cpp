// Purges of what a neighbour holds, too.
#include <gtest/gtest.h>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

TEST(PurgedBesideANeighbour, AUrlIsNotBroughtBackAfterACrash) {
  const TemporaryDirectory home;
  const json disk{{"path", (home / "cache").string()}, {"size", "64MiB"}};
  PeerScene scene({"/held", "/not-held", "/of-a-host", "/other"}, {{"cache", {{"disk", disk}}}});
  scene.peer.otherwise([](const Request&) { return cacheable("of the neighbour"); });
  EXPECT_EQ(scene.get("/held").body, "of the neighbour");
  for (const char* path : {"/held", "/not-held"}) {
    scene.client->request("PURGE", scene.origin.url(path), kOnPurpose);
  }
  const json order{{"prefix", scene.origin.url("/of-a-host")}};
  EXPECT_EQ(scene.proxy->page("/admin/purge", kOnPurpose, "POST", order.dump()).status, 200);
  scene.crash();
  for (const char* path : {"/held", "/not-held", "/of-a-host"}) {
    EXPECT_EQ(scene.get(path).body, "from the origin") << path;
  }
  EXPECT_EQ(scene.get("/other").body, "of the neighbour");
}

}  // namespace
}  // namespace scenario
