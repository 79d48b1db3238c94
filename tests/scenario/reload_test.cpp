// SIGHUP: a running proxy follows the settings file as it is now, without dropping a connection.
#include <gtest/gtest.h>

#include <filesystem>
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
    scene.proxy.reload(json{{"threads", 3}, {"name", "other"}});
  }
  const std::string said = scene.proxy.process().errors();
  const std::string words = "name, threads changed, which needs a restart";
  const auto first = said.find(words);
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_NE(said.find(words, first + 1), std::string::npos) << said;
}

TEST(Reload, AsksANewNeighbour) {
  Reloaded scene;
  ScriptedOrigin peer;
  peer.on(kDigestPath, digest_reply(digest_claiming({scene.origin.url("/a")})));
  peer.sign_as("b");
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
  peer.sign_as("b");
  const json settings = with_peer("b", peer.port());
  Reloaded scene(settings);
  ASSERT_TRUE(await([&] { return scene.proxy.digest_peer("b").at("state") == "usable"; }));
  const int polls = scene.proxy.digest_peer("b").at("polls");
  scene.proxy.reload(settings);
  EXPECT_EQ(scene.proxy.digest_peer("b").at("state"), "usable");
  EXPECT_GE(scene.proxy.digest_peer("b").at("polls").get<int>(), polls);
}

TEST(Reload, KeepsWhatIsKnownOfANeighbourWhenAnotherOneComes) {
  Reloaded scene;
  ScriptedOrigin peer;
  peer.on(kDigestPath, digest_reply(digest_claiming({scene.origin.url("/a")})));
  peer.sign_as("b");
  peer.on("/a", cacheable("from the peer"));
  const json one = with_peer("b", peer.port());
  scene.proxy.reload(one);
  ASSERT_TRUE(await([&] { return scene.proxy.digest_peer("b").at("state") == "usable"; }));
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).body, "from the peer");
  ASSERT_TRUE(await([&] { return scene.proxy.digest_peer("b").at("true_hits") == 1; }));

  json two = with_peer("c", 1);
  two["peers"].push_back(one["peers"][0]);
  scene.proxy.reload(two);
  EXPECT_EQ(scene.proxy.digest().at("peers")[1].at("name"), "b");
  EXPECT_EQ(scene.proxy.digest_peer("b").at("state"), "usable");
  EXPECT_EQ(scene.proxy.digest_peer("b").at("true_hits"), 1);
  EXPECT_EQ(scene.proxy.digest_peer("c").at("true_hits"), 0);
  json elsewhere = one;
  elsewhere["peers"][0]["url"] = "http://127.0.0.1:1";
  scene.proxy.reload(elsewhere);
  EXPECT_EQ(scene.proxy.digest_peer("b").at("true_hits"), 0) << "another server";
}

struct Logged : Reloaded {
  std::string path_of(const char* name) const {
    return (proxy.access_log_path().parent_path() / name).string();
  }
  static json to(const std::string& path, const char* format = "squid") {
    return {{"log", {{"access", path}, {"format", format}}}};
  }
  bool is_logged(const std::string& path, const std::string& text) const {
    return await([&] { return std::filesystem::exists(path) && contains(read_file(path), text); });
  }
};

TEST(Reload, SendsLinesToAnotherLogInAnotherFormat) {
  Logged scene;
  scene.status("/first");
  EXPECT_TRUE(scene.is_logged(scene.proxy.access_log_path(), "/first"));
  scene.proxy.reload(Logged::to(scene.path_of("second"), "json"));
  scene.status("/second");
  EXPECT_TRUE(scene.is_logged(scene.path_of("second"), "/second\""));
  EXPECT_FALSE(contains(read_file(scene.path_of("second")), "/first"));
  EXPECT_FALSE(contains(read_file(scene.proxy.access_log_path()), "/second"));

  scene.proxy.reload(Logged::to("none"));
  scene.status("/third");
  scene.proxy.reload(Logged::to(scene.path_of("fourth")));
  scene.status("/fourth");
  EXPECT_TRUE(scene.is_logged(scene.path_of("fourth"), "/fourth"));
  EXPECT_FALSE(contains(read_file(scene.path_of("fourth")), "/third"));
}

TEST(Reload, ChangesNothingIfTheLogCannotBeOpened) {
  Logged scene;
  json settings = Logged::to(scene.path_of("missing/log"));
  settings["access"]["clients"] = {"192.0.2.0/24"};
  scene.proxy.reload(settings);
  EXPECT_TRUE(scene.said("cannot open")) << scene.proxy.process().errors();
  EXPECT_EQ(scene.status("/a"), 200);
  EXPECT_TRUE(scene.is_logged(scene.proxy.access_log_path(), "/a"));
}

TEST(Reload, SaysThatTheSandboxForbidsALogElsewhere) {
  const TemporaryDirectory elsewhere;
  Logged scene;
  if (!contains(scene.proxy.process().errors(), "files limited (Landlock")) GTEST_SKIP();
  scene.proxy.reload(Logged::to((elsewhere / "log").string()));
  EXPECT_TRUE(scene.said("restart the proxy: its sandbox")) << "and nothing changes";
  scene.status("/a");
  EXPECT_TRUE(scene.is_logged(scene.proxy.access_log_path(), "/a"));
}

json with_memory(const char* size) {
  return {{"cache", {{"memory", size}}}};
}

TEST(Reload, ChangesTheMemoryOfTheCache) {
  Reloaded scene(with_memory("64MiB"));
  scene.origin.otherwise([](const Request&) { return cacheable(std::string(100'000, 'x')); });
  for (int i = 0; i < 300; ++i) scene.status("/" + std::to_string(i));
  const auto used = [&] { return scene.proxy.metric("hearsay_memory_used_bytes"); };
  const auto limit = [&] { return scene.proxy.metric("hearsay_memory_limit_bytes"); };
  EXPECT_GT(used(), 30e6);
  scene.proxy.reload(with_memory("8MiB"));
  EXPECT_TRUE(await([&] { return limit() == 8 << 20 && used() <= limit(); }));
  EXPECT_GT(used(), 4e6) << "no more than necessary goes";
  scene.proxy.reload(with_memory("64MiB"));
  EXPECT_TRUE(await([&] { return limit() == 64 << 20; }));
  for (int i = 0; i < 300; ++i) scene.status("/" + std::to_string(i));
  EXPECT_GT(used(), 30e6);
  EXPECT_FALSE(scene.said("needs a restart")) << scene.proxy.process().errors();
}

TEST(Reload, ChangesTheLargestBodyThatIsStored) {
  Reloaded scene;
  const auto is_stored = [&](const char* path) {
    scene.status(path);
    return is_hit(scene.client.get(scene.origin.url(path)));
  };
  EXPECT_TRUE(is_stored("/a"));
  scene.proxy.reload(json{{"cache", {{"max_object", "1KiB"}}}});
  scene.origin.otherwise([](const Request&) { return cacheable(std::string(2'000, 'x')); });
  ASSERT_TRUE(
      await([&, n = 0]() mutable { return !is_stored(("/b" + std::to_string(++n)).c_str()); }));
  scene.proxy.reload(json::object());
  EXPECT_TRUE(
      await([&, n = 0]() mutable { return is_stored(("/c" + std::to_string(++n)).c_str()); }));
}

json with_disk(const std::filesystem::path& path, const char* size, const char* admit = "first") {
  return {{"cache", {{"disk", {{"path", path.string()}, {"size", size}, {"admit", admit}}}}}};
}

TEST(Reload, ChangesTheSizeOfTheDisk) {
  const TemporaryDirectory home;
  Reloaded scene(with_disk(home.path(), "128MiB"));
  scene.origin.otherwise([](const Request&) { return cacheable(std::string(1'000'000, 'x')); });
  const auto used = [&] { return scene.proxy.metric("hearsay_disk_used_bytes"); };
  // Stores at least 100 responses. A busy disk refuses some, so others follow until it has enough.
  const auto fill = [&](const std::string& name, double least) {
    return await([&, n = 0]() mutable {
      scene.status("/" + name + std::to_string(n++));
      return n >= 100 && used() > least;
    });
  };
  ASSERT_TRUE(fill("a", 90e6)) << used();
  scene.proxy.reload(with_disk(home.path(), "64MiB"));
  EXPECT_TRUE(await([&] { return used() <= 64 << 20; })) << used();
  EXPECT_GT(used(), 40e6) << "no more than necessary goes";
  EXPECT_TRUE(is_hit(scene.client.get(scene.origin.url("/a99")))) << "the newest stay";
  EXPECT_TRUE(fill("b", 0));
  EXPECT_LE(used(), 64 << 20);
  scene.proxy.reload(with_disk(home.path(), "128MiB"));
  EXPECT_TRUE(fill("c", 90e6)) << used();
  EXPECT_FALSE(scene.said("needs a restart")) << scene.proxy.process().errors();
}

TEST(Reload, ChangesWhatTheDiskAdmitsButNotWhereItIs) {
  const TemporaryDirectory home;
  const TemporaryDirectory other;
  Reloaded scene(with_disk(home.path(), "64MiB"));
  scene.status("/a");
  EXPECT_EQ(scene.proxy.metric("hearsay_disk_not_admitted_total"), 0);
  scene.proxy.reload(with_disk(other.path(), "64MiB", "second"));
  EXPECT_TRUE(scene.said("cache.disk.path changed, which needs a restart"));
  EXPECT_TRUE(await([&, n = 0]() mutable {
    scene.status("/b" + std::to_string(++n));
    return scene.proxy.metric("hearsay_disk_not_admitted_total") > 0;
  }));
  EXPECT_TRUE(std::filesystem::is_empty(other.path()));
}

TEST(Reload, ChangesTheSizeAndTheScheduleOfTheDigest) {
  Reloaded scene(json{{"digest", {{"bits_per_entry", 12}, {"squid_bits_per_entry", 10}}}});
  scene.status("/a");
  ASSERT_TRUE(await([&] { return scene.proxy.digest().at("entries") == 1; }));
  const auto epoch = scene.proxy.digest().at("epoch");
  scene.proxy.reload(json{{"digest", {{"bits_per_entry", 8}, {"squid_bits_per_entry", 5}}}});
  EXPECT_EQ(scene.proxy.digest().at("bits_per_entry"), 8);
  EXPECT_NE(scene.proxy.digest().at("epoch"), epoch);
  EXPECT_EQ(scene.proxy.digest().at("entries"), 1);
  scene.status("/b");
  EXPECT_TRUE(await([&] { return scene.proxy.digest().at("entries") == 2; }));
  EXPECT_FALSE(scene.said("needs a restart")) << scene.proxy.process().errors();
}

TEST(Reload, FailsNoRequestHoweverOften) {
  Reloaded scene;
  std::atomic<int> good = 0;
  std::atomic<int> bad = 0;
  std::vector<std::jthread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&, i](const std::stop_token& told_to_end) {
      Client client(scene.proxy.port());
      for (int n = 0; !told_to_end.stop_requested(); ++n) {
        const auto url = scene.origin.url("/" + std::to_string(i) + "-" + std::to_string(n % 50));
        ++(client.get(url).body == "hello" ? good : bad);
      }
    });
  }
  for (int times = 0; times < 20; ++times) {
    const json other{{"cache", {{"memory", "16MiB"}}},
                     {"digest", {{"bits_per_entry", 8}}},
                     {"log", {{"format", "json"}}}};
    scene.proxy.reload(times % 2 == 0 ? with_peer("b", 1, other) : json::object());
  }
  clients.clear();
  EXPECT_GT(good, 0);
  EXPECT_EQ(bad, 0);
}

}  // namespace
}  // namespace scenario
