// Large objects that a neighbour has close at hand: they are stored here only at the third request.
#include <gtest/gtest.h>

#include "tests/scenario/large/large_peer_scene.hpp"

namespace scenario {
namespace {

const json kLeavesThere{{"digest", {{"duplicates", "second"}}}};

bool is_left_there(const Response& response) {
  return contains(nearest_cache_status(response), "not-stored/duplicate");
}

// A busy machine may make the neighbour seem slow, which stores its object at once. So it answers
// some small questions first, and if that does not help, the test tries again. The origin may be
// asked then, too.
constexpr int kTries = 5;
constexpr int kSmall = 8;

void make_known(LargePeer& scene) {
  std::vector<std::string> claimed{scene.origin.url("/a")};
  for (int i = 0; i < kSmall; ++i) {
    claimed.push_back(scene.origin.url("/small" + std::to_string(i)));
    scene.peer.on("/small" + std::to_string(i), cacheable("small"));
  }
  scene.peer.on(kDigestPath, digest_reply(digest_claiming(claimed)));
  ASSERT_TRUE(await([&] { return scene.books().at("entries") == claimed.size(); }));
  Client client(scene.asking->port());
  for (int i = 1; i <= kSmall; ++i) EXPECT_EQ(client.get(claimed[i]).body, "small");
}

TEST(LargePlacement, ALittlePartIsLeftThereUntilTheThirdRequest) {
  std::string told;
  for (int i = 0; i < kTries && told != "ddsh"; ++i) {
    LargePeer scene(20 * kMiB, kLeavesThere);
    make_known(scene);
    scene.peer.on("/a", scene.part({2 * kMiB, 4 * kMiB - 1}));  // made before it is asked for
    told.clear();
    for (int request = 0; request < 3; ++request) {
      const Response part = scene.ask_for("3000000-3500000");
      scene.expect_part(part, {3'000'000, 3'500'000});
      told += is_left_there(part) ? 'd' : 's';
    }
    if (is_hit(scene.ask_for("3000000-3500000")) && scene.origin.count() == 0) told += 'h';
  }
  EXPECT_EQ(told, "ddsh");
}

TEST(LargePlacement, ALongPartIsStoredAtOnce) {
  LargePeer scene(20 * kMiB, kLeavesThere);
  EXPECT_FALSE(is_left_there(scene.ask_for("3000000-")));
  EXPECT_TRUE(is_hit(scene.ask_for("3000000-")));
}

TEST(LargePlacement, TheOriginCompletesWhatWasLeftThereAndCut) {
  bool left_there = false;
  for (int i = 0; i < kTries && !left_there; ++i) {
    LargePeer scene(20 * kMiB, kLeavesThere);
    make_known(scene);
    scene.peer.on("/a",
                  scene.described(Reply(200)).sized(scene.size).send(pattern(0, 3'000'000)).cut());
    const Response whole = scene.ask_for("");
    scene.expect_whole(whole);
    left_there = is_left_there(whole);
    if (left_there) {
      EXPECT_EQ(scene.asked(), std::vector<std::string>{"bytes=3000000-"});
    }
  }
  EXPECT_TRUE(left_there);
}

}  // namespace
}  // namespace scenario
