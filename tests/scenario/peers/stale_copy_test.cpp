// What is stale here may be fresh at a neighbour, which is asked before the origin.
#include <gtest/gtest.h>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

const Fields kStaleCopy{{"Cache-Control", "max-age=60"}, {"Age", "100"}, {"ETag", "\"v1\""}};

Fields with_field(Fields fields, const char* name, const char* value) {
  for (auto& [known, its] : fields) {
    if (known == name) its = value;
  }
  return fields;
}

// A neighbour claims a response of which the proxy has a stale copy.
struct StaleScene : PeerScene {
  explicit StaleScene(const Fields& fields = kStaleCopy, const char* trust = "site")
      : PeerScene({"/a"}, json::object(), trust) {
    origin.on("/a", [fields](const Request& request) {
      const bool asks_whether_current = request.has("If-None-Match");
      return asks_whether_current ? Reply(304, fields) : Reply(200, fields).body("from the origin");
    });
    get("/a", {{"Cache-Control", "no-cache"}});  // no neighbour may answer this
    EXPECT_EQ(origin.count("/a"), 1U);
    EXPECT_EQ(peer.count("/a"), 0U);
  }
};

struct FromPeer {
  const char* name;
  Reply reply;
  const char* body;         // that the client gets
  std::size_t from_origin;  // requests
};

void PrintTo(const FromPeer& test, std::ostream* out) {
  *out << test.name;
}

class StaleCopy : public testing::TestWithParam<FromPeer> {};

const Fields kFreshCopy = with_field(kStaleCopy, "Age", "1");

TEST_P(StaleCopy, IsFreshenedOrReplacedByANeighboursFreshOne) {
  StaleScene scene;
  scene.peer.on("/a", GetParam().reply);
  EXPECT_EQ(scene.get("/a").body, GetParam().body);
  EXPECT_EQ(scene.peer.requests("/a").at(0).field("If-None-Match"), "\"v1\"");
  EXPECT_EQ(scene.origin.count("/a"), 1 + GetParam().from_origin);
  if (GetParam().from_origin > 0) return;
  const Response again = scene.get("/a");
  EXPECT_EQ(again.body, GetParam().body);
  EXPECT_TRUE(contains(again.field("Cache-Status"), "; hit")) << again.field("Cache-Status");
  EXPECT_EQ(scene.peer.count("/a"), 1U);
  EXPECT_EQ(scene.books().at("true_hits"), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Peers, StaleCopy,
    testing::Values(
        FromPeer{"Unchanged", Reply(304, kFreshCopy), "from the origin", 0},
        FromPeer{"Another",
                 Reply(200, with_field(kFreshCopy, "ETag", "\"v2\"")).body("from the peer"),
                 "from the peer", 0},
        FromPeer{"UnchangedButStaleThere", Reply(304, kStaleCopy), "from the origin", 1},
        FromPeer{"UnchangedButAnother", Reply(304, with_field(kFreshCopy, "ETag", "\"v2\"")),
                 "from the origin", 1},
        FromPeer{"UnchangedWithACookie",
                 Reply(304, {{"Cache-Control", "public, max-age=60"},
                             {"ETag", "\"v1\""},
                             {"Set-Cookie", "a=b"}}),
                 "from the origin", 1},
        FromPeer{"NotThere", Reply(504).body("no"), "from the origin", 1},
        FromPeer{"NoAnswer", Reply::hang_up(), "from the origin", 1}),
    [](const auto& test) { return test.param.name; });

TEST(StaleCopies, ThatMustBeRevalidatedAreReplacedButNotFreshenedByANeighbour_Rfc9111_5_2_2_2) {
  StaleScene scene(with_field(kStaleCopy, "Cache-Control", "max-age=60, must-revalidate"));
  scene.peer.on("/a", Reply(200, kFreshCopy).body("from the peer"));
  EXPECT_EQ(scene.get("/a").body, "from the peer");
  EXPECT_FALSE(scene.peer.requests("/a").at(0).has("If-None-Match"));
}

TEST(StaleCopies, AreNotFreshenedByAGuest) {
  StaleScene scene(kStaleCopy, "guest");
  scene.peer.on("/a", Reply(304, kFreshCopy));
  EXPECT_EQ(scene.get("/a").body, "from the origin");
  EXPECT_EQ(scene.peer.count("/a"), 0U);
  EXPECT_EQ(scene.origin.count("/a"), 2U);
}

TEST(StaleCopies, AreRefreshedBehindTheClientsBackByANeighbour) {
  StaleScene scene(
      with_field(kStaleCopy, "Cache-Control", "max-age=60, stale-while-revalidate=600"));
  scene.peer.on("/a", Reply(304, kFreshCopy));
  EXPECT_EQ(scene.get("/a").body, "from the origin");
  EXPECT_TRUE(await([&] { return scene.books().at("true_hits") == 1; }));
  EXPECT_EQ(scene.origin.count("/a"), 1U);
}

TEST(StaleCopies, GiveWayToANeighboursFreshCopyWhereTheOriginIsOutOfReach) {
  StaleScene scene(with_field(kStaleCopy, "Cache-Control", "max-age=60, stale-if-error=600"));
  scene.origin.on("/a", Reply::hang_up());
  scene.peer.on("/a", Reply(200, with_field(kFreshCopy, "ETag", "\"v2\"")).body("from the peer"));
  EXPECT_EQ(scene.get("/a").body, "from the peer");
}

}  // namespace
}  // namespace scenario
