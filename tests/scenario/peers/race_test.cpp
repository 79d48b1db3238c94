// A neighbour that is slow costs a request little: its next source is asked, too.
#include <gtest/gtest.h>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

const Fields kForAMinute{{"Cache-Control", "max-age=60"}};

struct SlowAnswer {
  const char* name;
  Reply reply;
};

void PrintTo(const SlowAnswer& test, std::ostream* out) {
  *out << test.name;
}

class SlowPeer : public testing::TestWithParam<SlowAnswer> {};

TEST_P(SlowPeer, IsOvertakenByTheOriginAndThenOnTrial) {
  PeerScene scene({"/a"}, kSparesTheOrigin);
  scene.peer.on("/a", GetParam().reply);
  const auto begun = Clock::now();
  const Response response = scene.get("/a");
  EXPECT_LT(Clock::now() - begun, 10s) << "nobody waits for the neighbour's time-out";
  EXPECT_EQ(response.body, "from the origin");
  EXPECT_TRUE(response.whole);
  EXPECT_TRUE(contains(response.field("Cache-Status"), "outrun/b"))
      << response.field("Cache-Status");
  EXPECT_EQ(scene.books().at("state"), "trying");
  EXPECT_EQ(scene.books().at("reason"), "outrun");
  EXPECT_EQ(scene.books().at("outruns"), 1);
  EXPECT_EQ(scene.books().at("claims"), 1);
  EXPECT_EQ(scene.books().at("asked"), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Race, SlowPeer,
    testing::Values(
        SlowAnswer{"Silent", Reply().wait(Gate())},
        SlowAnswer{"SendsOnlyTheHead", Reply(200, kForAMinute).sized(1000).start().wait(Gate())},
        SlowAnswer{"HoldsBackTheBody", Reply(200, kForAMinute).sized(1000).send("x").wait(Gate())}),
    [](const auto& test) { return test.param.name; });

TEST(Race, AUselessAnswerLeavesTheOriginsQuestionAlone) {
  PeerScene scene({"/a"}, kSparesTheOrigin);
  Gate gate;
  scene.peer.on("/a",
                Reply(200, kForAMinute).with("Set-Cookie", "a=b").wait(gate).body("from the peer"));
  scene.origin.on("/a", [=](const Request&) mutable {
    gate.open();
    return cacheable("from the origin").slow(allowed(300ms), 0);  // the neighbour's comes first
  });
  const Response response = scene.get("/a");
  EXPECT_EQ(response.body, "from the origin");
  EXPECT_TRUE(contains(response.field("Cache-Status"), "unusable/b"))
      << response.field("Cache-Status");
  EXPECT_EQ(scene.origin.count("/a"), 1U);
}

TEST(Race, TheOriginsInterimHeadsReachTheClient) {
  PeerScene scene({"/a"}, kSparesTheOrigin);
  scene.peer.on("/a", Reply().wait(Gate()));
  scene.origin.on("/a", Reply(200)
                            .interim("HTTP/1.1 103 Early Hints", {{"Link", "</style.css>"}})
                            .body("from the origin"));
  EXPECT_EQ(scene.get("/a").body, "from the origin");
  ASSERT_EQ(scene.client->interim().size(), 1U);
  EXPECT_EQ(scene.client->interim().front().status, 103);
}

TEST(Race, OneRequestAtATimeTriesANeighbourThatWasOutrun) {
  PeerScene scene({"/a", "/b", "/c"}, kSparesTheOrigin);
  for (const char* path : {"/a", "/b", "/c"}) scene.peer.on(path, Reply().wait(Gate()));
  for (const char* path : {"/a", "/b", "/c"}) EXPECT_EQ(scene.get(path).body, "from the origin");
  EXPECT_TRUE(await([&] { return scene.peer.count("/b") == 1U; })) << "the trial";
  EXPECT_EQ(scene.peer.count("/c"), 0U) << "the trial is under way";
}

TEST(Race, TheNextClaimantComesBeforeTheOriginWhateverTheFirstDoes) {
  for (const auto& bad : {Reply().wait(Gate()), Reply(504).body("no"), Reply::hang_up()}) {
    TwoPeers scene({"/a", "/b", "/c", "/d"});
    for (const char* path : {"/a", "/b", "/c", "/d"}) {
      scene.b.on(path, bad);
      scene.c.on(path, cacheable("from c"));
    }
    for (const char* path : {"/a", "/b", "/c", "/d"}) {
      EXPECT_EQ(scene.client->get(scene.origin.url(path)).body, "from c") << path;
    }
  }
}

TEST(Race, TheOriginsErrorIsNoAnswerWhileAClaimantMayStillAnswer) {
  PeerScene scene({"/a"}, kSparesTheOrigin);
  Gate gate;
  scene.peer.on("/a", Reply(200, kForAMinute).wait(gate).body("from the peer"));
  scene.origin.on("/a", [=](const Request&) mutable {
    gate.open();
    return Reply(503).body("busy");
  });
  EXPECT_EQ(scene.get("/a").body, "from the peer");
}

TEST(Race, EndsWhenTheOriginFailsAndThenTheNeighbourOnTrialSaysNo) {
  PeerScene scene({"/a", "/b"}, kSparesTheOrigin);
  scene.peer.on("/a", Reply().wait(Gate()));
  EXPECT_EQ(scene.get("/a").body, "from the origin");
  EXPECT_EQ(scene.books().at("state"), "trying");
  Gate gate;
  scene.peer.on("/b", Reply(504).wait(gate).body("no"));
  scene.origin.on("/b", [=](const Request&) mutable {
    gate.open();
    return Reply(503).body("busy");
  });
  EXPECT_EQ(scene.get("/b").status, 503);
}

TEST(Race, OnceTheOriginFailsEvenANeighbourOnTrialIsAskedByEveryRequest) {
  PeerScene scene({"/a", "/b", "/c"}, kSparesTheOrigin);
  scene.peer.on("/a", Reply().wait(Gate()));
  EXPECT_EQ(scene.get("/a").body, "from the origin");
  EXPECT_EQ(scene.books().at("state"), "trying");
  Gate gate;
  scene.peer.on("/b", Reply().wait(gate).body("late"));
  scene.peer.on("/c", cacheable("from the peer"));
  scene.get("/b");  // its trial goes on
  ASSERT_TRUE(scene.peer.await_requests("/b", 1));
  scene.origin.on("/c", Reply::hang_up());
  EXPECT_EQ(scene.get("/c").body, "from the peer");
  gate.open();
}

TEST(Race, AKeyThatWasDeniedIsNotAskedForAgainUntilTheDigestChanges) {
  PeerScene scene({"/a"}, {{"digest", {{"poll", "1h"}}}});
  scene.peer.on("/a", Reply(504).body("no"));
  scene.origin.on("/a", Reply(200, {{"Cache-Control", "no-store"}}).body("from the origin"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(scene.get("/a").body, "from the origin");
  EXPECT_EQ(scene.peer.count("/a"), 1U);
}

}  // namespace
}  // namespace scenario
