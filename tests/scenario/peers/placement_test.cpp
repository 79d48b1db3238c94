// What a neighbour has close at hand is stored here, too, only once our own clients ask for it
// again.
#include <gtest/gtest.h>

#include <future>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLarge = (1 << 20) + 1;

std::vector<std::string> claimed_paths() {
  std::vector<std::string> paths;
  for (int i = 0; i < 20; ++i) paths.push_back("/" + std::to_string(i));
  return paths;
}

struct Placing : PeerScene {
  explicit Placing(const char* setting, std::size_t bytes = 10)
      : PeerScene(claimed_paths(), {{"digest", {{"duplicates", setting}}}}) {
    peer.otherwise([=](const Request&) { return cacheable(std::string(bytes, 'p')); });
  }

  // How requests for the path were answered: `d` by a duplicate that is left with the neighbour,
  // `s` by a response that is stored, `h` by a hit.
  std::string answers(const std::string& path, std::size_t requests = 4) const {
    std::string all;
    while (all.size() < requests) {
      const Response response = get(path);
      const auto told = nearest_cache_status(response);
      EXPECT_EQ(response.status, 200);
      EXPECT_EQ(contains(told, "peer/b"), !is_hit(response)) << told;
      const bool left = contains(told, "not-stored/duplicate");
      EXPECT_NE(left, contains(told, "; stored") || is_hit(response)) << told;
      all += left ? 'd' : is_hit(response) ? 'h' : 's';
    }
    return all;
  }
  // Whether the requests for some path were answered so. A busy machine may make the neighbour seem
  // slow, which stores a response at once.
  bool some_answers_are(const std::string& expected) const {
    std::string all;
    for (const auto& path : claimed_paths()) {
      const auto found = answers(path, expected.size());
      if (found == expected) return true;
      all += ' ' + found;
    }
    ADD_FAILURE() << "the answers were:" << all;
    return false;
  }
};

TEST(Placement, StoresADuplicateAtTheSecondRequest) {
  const Placing scene("second");
  EXPECT_TRUE(scene.some_answers_are("dshh"));
}

TEST(Placement, StoresNoDuplicateIfTheSettingSaysSo) {
  const Placing scene("never");
  EXPECT_TRUE(scene.some_answers_are("dddd"));
}

TEST(Placement, StoresEachAtOnceIfTheSettingSaysSo) {
  const Placing scene("always", kLarge);
  for (const char* path : {"/0", "/1", "/2"}) EXPECT_EQ(scene.answers(path), "shhh");
}

TEST(Placement, StoresAtOnceWhatASlowSiblingGives) {
  Placing scene("second");
  scene.peer.otherwise([](const Request&) { return cacheable("from afar").slow(30ms, 0); });
  for (const char* path : {"/0", "/1", "/2"}) EXPECT_EQ(scene.answers(path), "shhh");
}

TEST(Placement, DoesNotCountTheRequestsOfNeighbours) {
  const Placing scene("second");
  for (const auto& path : claimed_paths()) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(scene.given_on(path).status, 504);
  }
  EXPECT_TRUE(scene.some_answers_are("dshh"));
}

TEST(Placement, StoresWhatReplacesAStaleResponse) {
  Placing scene("never");
  ASSERT_TRUE(scene.some_answers_are("d"));
  scene.origin.on("/19", cacheable("from the origin", "max-age=0").with("ETag", "\"v1\""));
  scene.get("/19", {{"Cache-Control", "no-cache"}});
  EXPECT_EQ(scene.answers("/19", 3), "shh");
}

TEST(Placement, LetsRequestsJoinADuplicateUnderWay) {
  Placing scene("second");
  ASSERT_TRUE(scene.some_answers_are("d"));
  Gate gate;
  const Fields fields{{"Cache-Control", "max-age=60"}, {"ETag", "\"v1\""}};
  scene.peer.on("/19", Reply(200, fields).sized(4).send("ab").wait(gate).send("cd"));
  const auto ask = [&scene] { return Client(scene.proxy->port()).get(scene.origin.url("/19")); };
  auto one = std::async(std::launch::async, ask);
  EXPECT_TRUE(await([&] { return scene.peer.count("/19") == 1; }));
  auto other = std::async(std::launch::async, ask);
  EXPECT_TRUE(await([&] { return scene.proxy->metric("hearsay_connections") >= 4; }));
  gate.open();
  EXPECT_EQ(one.get().body, "abcd");
  EXPECT_EQ(other.get().body, "abcd");
  EXPECT_EQ(scene.peer.count("/19"), 1U);
}

// Two neighbours that hold the same, and have little room for more.
struct FullNeighbours : Neighbours {
  static constexpr int kShared = 900;

  FullNeighbours() : Neighbours(json{{"cache", {{"memory", "8MiB"}}}}) {
    origin.otherwise([](const Request&) { return cacheable(std::string(5200, 'o')); });
    fill(a, "shared", kShared);
    EXPECT_TRUE(b_knows(kShared));
    fill(b, "shared", kShared);
    EXPECT_TRUE(await([&] { return a.digest_peer("b").at("entries") == kShared; }));
  }

  void fill(const ProxyProcess& proxy, const std::string& names, int count) const {
    Client client(proxy.port());
    for (int i = 0; i < count; ++i) client.get(url(names, i));
  }
  // How many of the shared responses the proxy still holds.
  int held(const ProxyProcess& proxy) const {
    Client client(proxy.port());
    int all = 0;
    for (int i = 0; i < kShared; ++i) {
      const auto response = client.get(url("shared", i), {{"Cache-Control", "only-if-cached"}});
      all += response.status == 200 ? 1 : 0;
    }
    return all;
  }
  double duplicates() const { return a.metric("hearsay_evicted_duplicates_total"); }
  std::string url(const std::string& names, int number) const {
    return origin.url('/' + names + std::to_string(number));
  }

  ScriptedOrigin origin;
};

TEST(Placement, AFullCacheGivesUpFirstWhatItsNeighbourKeeps) {
  const FullNeighbours scene;
  EXPECT_EQ(scene.duplicates(), 0);
  scene.fill(scene.a, "a", 500);
  const int given_up = FullNeighbours::kShared - scene.held(scene.a);
  EXPECT_GT(given_up, 100);
  EXPECT_GT(scene.duplicates(), 0.8 * given_up);
}

// Of half of all that both hold, the neighbour is the keeper.
TEST(Placement, AFullCacheKeepsWhatItIsTheKeeperOf) {
  const FullNeighbours scene;
  scene.fill(scene.a, "a", 3000);
  EXPECT_EQ(scene.held(scene.a), 0) << "in the end all of it is too old";
  EXPECT_EQ(scene.held(scene.b), FullNeighbours::kShared);
  EXPECT_NEAR(scene.duplicates() / FullNeighbours::kShared, 0.5, 0.15);
}

}  // namespace
}  // namespace scenario
