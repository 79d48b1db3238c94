// SIGHUP: a running proxy follows the settings file as it is now, without dropping a connection.
#include <gtest/gtest.h>

#include <thread>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

struct Reloaded : Scene {
  explicit Reloaded(const json& settings = json::object()) : Scene(settings) {
    origin.otherwise([](const Request&) { return cacheable("hello"); });
  }
  int status(const std::string& path) { return client.get(origin.url(path)).status; }
  bool said(std::string_view text) { return contains(proxy.process().errors(), text); }
};

TEST(Reload, AppliesWhoMayUseTheProxyOnTheSameConnection) {
  Reloaded scene;
  EXPECT_EQ(scene.status("/a"), 200);
  scene.proxy.reload(json{{"access", {{"clients", {"192.0.2.0/24"}}}}});
  EXPECT_EQ(scene.status("/b"), 403);
  scene.proxy.reload(json::object());
  EXPECT_EQ(scene.status("/c"), 200);
}

TEST(Reload, ReadsTheListsAgain) {
  const TemporaryDirectory directory;
  write_file(directory / "block", "ads.test\n");
  const json settings{{"access", {{"block", {(directory / "block").string()}}}}};
  Reloaded scene(settings);
  EXPECT_EQ(scene.status("/a"), 200);
  write_file(directory / "block", "ads.test\n127.0.0.1\n");
  scene.proxy.reload(settings);
  EXPECT_EQ(scene.status("/a"), 403);
}

TEST(Reload, AppliesRules) {
  Reloaded scene;
  scene.proxy.reload(
      json{{"rules", {{{"name", "never"}, {"host", "127.0.0.1"}, {"never_store", true}}}}});
  scene.status("/a");
  scene.status("/a");
  EXPECT_EQ(scene.origin.count("/a"), 2U);
}

TEST(Reload, LetsATransferEndAsItBegan) {
  Reloaded scene;
  Gate gate;
  scene.origin.on("/slow", Reply().sized(11).send("hello ").wait(gate).send("world"));
  scene.client.send(request_text("GET", scene.origin.url("/slow")));
  Response response = scene.client.read_head();
  scene.proxy.reload(json{{"access", {{"clients", {"192.0.2.0/24"}}}}});
  gate.open();
  scene.client.read_rest(response);
  EXPECT_EQ(response.body, "hello world");
}

TEST(Reload, ChangesNothingIfTheFileHasAFaultAndSaysWhere) {
  Reloaded scene;
  scene.proxy.reload_text("{\"access\": {\"clients\": [\"192.0.2.0/24\"]},\n \"acess\": {}}");
  EXPECT_TRUE(scene.said("line 2, column")) << scene.proxy.process().errors();
  EXPECT_TRUE(scene.said("those in force stay")) << scene.proxy.process().errors();
  EXPECT_EQ(scene.status("/a"), 200);
  scene.proxy.reload_text("");
  EXPECT_EQ(scene.status("/b"), 200);
}

TEST(Reload, SaysWhatWaitsForARestartEachTimeUntilThen) {
  Reloaded scene;
  for (int times = 0; times < 2; ++times) {
    scene.proxy.reload(json{{"threads", 3}, {"cache", {{"memory", "100MiB"}}}});
  }
  const std::string said = scene.proxy.process().errors();
  const std::string words = "threads, cache.memory changed, which needs a restart";
  const auto first = said.find(words);
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_NE(said.find(words, first + 1), std::string::npos) << said;
}

TEST(Reload, AsksANewNeighbour) {
  Reloaded scene;
  ScriptedOrigin peer;
  peer.on(kDigestPath, digest_reply(digest_claiming({scene.origin.url("/a")})));
  peer.on("/a", cacheable("from the peer"));
  scene.proxy.reload(with_peer("b", peer.port()));
  ASSERT_TRUE(await([&] { return scene.proxy.digest_peer("b").at("state") == "usable"; }));
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).body, "from the peer");
  scene.proxy.reload(json::object());
  EXPECT_EQ(scene.proxy.digest().at("peers").size(), 0U);
  EXPECT_EQ(scene.status("/b"), 200);
}

TEST(Reload, KeepsWhatIsKnownOfNeighboursThatAreTheSame) {
  ScriptedOrigin peer;
  peer.on(kDigestPath, digest_reply(digest_claiming({"http://a.test/"})));
  const json settings = with_peer("b", peer.port());
  Reloaded scene(settings);
  ASSERT_TRUE(await([&] { return scene.proxy.digest_peer("b").at("state") == "usable"; }));
  const int polls = scene.proxy.digest_peer("b").at("polls");
  scene.proxy.reload(settings);
  EXPECT_EQ(scene.proxy.digest_peer("b").at("state"), "usable");
  EXPECT_GE(scene.proxy.digest_peer("b").at("polls").get<int>(), polls);
}

TEST(Reload, FailsNoRequestHoweverOften) {
  Reloaded scene;
  std::atomic<bool> done = false;
  std::atomic<int> good = 0;
  std::atomic<int> bad = 0;
  std::vector<std::jthread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&, i] {
      Client client(scene.proxy.port());
      for (int n = 0; !done; ++n) {
        const auto url = scene.origin.url("/" + std::to_string(i) + "-" + std::to_string(n % 50));
        ++(client.get(url).body == "hello" ? good : bad);
      }
    });
  }
  for (int times = 0; times < 20; ++times) {
    scene.proxy.reload(times % 2 == 0 ? with_peer("b", 1) : json::object());
  }
  done = true;
  clients.clear();
  EXPECT_GT(good, 0);
  EXPECT_EQ(bad, 0);
}

}  // namespace
}  // namespace scenario
