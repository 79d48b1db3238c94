// One body under many URLs: whatever was fetched for one of them answers for all.
#include <gtest/gtest.h>

#include "tests/scenario/mirrors/content_scene.hpp"
#include "tests/scenario/mirrors/mirror_scene.hpp"

namespace scenario {
namespace {

// An origin that has a body under several names, and a proxy.
struct SharedScene : Scene {
  explicit SharedScene(std::size_t size = 6, const json& settings = json::object())
      : Scene(by_digest(settings)), body(numbered_bytes(size)) {
    origin.otherwise([this](const Request&) {
      return validated(body).with("Content-Type", "text/html").with("X-Of", "the first");
    });
  }
  std::string url(const std::string& folder) const { return origin.url(path_of(body, folder)); }
  Response get(const std::string& folder, const Fields& fields = {}) const {
    return Client(proxy.port()).get(url(folder), fields);
  }
  std::size_t count(const std::string& folder) const { return origin.count(path_of(body, folder)); }
  // Whether the name got what was fetched for another one.
  bool shares(const std::string& folder) const {
    const auto got = get(folder);
    return got.whole && got.body == body && is_hit(got) && count(folder) == 0;
  }

  const std::string body;
};

TEST(SharedContent, IsFetchedOnceForAllNames) {
  const TemporaryDirectory home;
  for (const auto size : {std::size_t{6}, kLarge}) {
    SharedScene scene(size, with_disk(home));
    const auto first = scene.get("/one");
    EXPECT_EQ(first.field("X-Of"), "the first");
    EXPECT_TRUE(scene.shares("/two")) << size;
    const auto third = scene.get("/three", {{"If-None-Match", "\"v1\""}});
    EXPECT_TRUE(third.status == 200 && third.body == scene.body) << "no server's tag counts";
    EXPECT_EQ(third.field("Content-Type"), "application/octet-stream");
    EXPECT_FALSE(third.has("X-Of"));
    const auto tag = third.field("ETag");
    EXPECT_TRUE(contains(tag, "sha256:")) << tag;
    EXPECT_EQ(scene.get("/three", {{"If-None-Match", tag}}).status, 304);
    const auto part = scene.get("/three", {{"Range", "bytes=1-3"}});
    EXPECT_EQ(part.status, 206);
    EXPECT_EQ(part.body, scene.body.substr(1, 3));
    Client client(scene.proxy.port());
    EXPECT_EQ(client.request("HEAD", scene.url("/three")).field("Content-Length"),
              std::to_string(size));
    EXPECT_EQ(scene.origin.count(), 1U);
  }
}

TEST(SharedContent, IsFoundAfterARestart) {
  const TemporaryDirectory home;
  ScriptedOrigin origin;
  const auto body = numbered_bytes(kLarge);
  origin.otherwise([&](const Request&) { return validated(body); });
  for (const char* folder : {"/one", "/two"}) {
    ProxyProcess proxy(with_disk(home, by_digest()));
    EXPECT_TRUE(Client(proxy.port()).get(origin.url(path_of(body, folder))).body == body);
    EXPECT_EQ(proxy.terminate(), 0);
  }
  EXPECT_EQ(origin.count(), 1U);
}

TEST(SharedContent, IsForWhoAsksWithoutCredentialsAlone) {
  for (const auto& secret : {std::pair{"Authorization", "Bearer x"}, std::pair{"Cookie", "a=b"}}) {
    SharedScene scene;
    scene.get("/secret", {secret});
    EXPECT_FALSE(scene.shares("/open")) << "was stored for one client";
    EXPECT_EQ(scene.get("/other", {secret}).body, scene.body);
    EXPECT_EQ(scene.count("/other"), 1U) << "its origin has to agree";
    EXPECT_TRUE(scene.shares("/third"));
  }
}

TEST(SharedContent, IsOfGetAlone) {
  SharedScene scene;
  Client client(scene.proxy.port());
  client.send(request_text("POST", scene.url("/one"), {{"Content-Length", "2"}}) + "hi");
  EXPECT_EQ(client.read().body, scene.body);
  EXPECT_FALSE(scene.shares("/two"));
}

TEST(SharedContent, IsNotSharedBeforeItIsWholeAndRight) {
  const TemporaryDirectory home;
  SharedScene scene(kLarge, with_disk(home));
  scene.origin.otherwise([&](const Request& request) { return ranged(scene.body, request); });
  EXPECT_EQ(scene.get("/one", {{"Range", "bytes=0-1048575"}}).status, 206);
  EXPECT_EQ(scene.get("/two", {{"Range", "bytes=0-99"}}).status, 206);
  EXPECT_EQ(scene.count("/two"), 1U);
  const auto lie = falsified(scene.body);
  scene.origin.on(path_of(scene.body, "/three"), validated(lie));
  EXPECT_FALSE(scene.get("/three").whole);
  EXPECT_TRUE(scene.get("/four").body == scene.body);
  EXPECT_EQ(scene.count("/four"), 1U);
}

TEST(SharedContent, OfACodedAnswerIsNotShared) {
  SharedScene scene;
  scene.origin.on(path_of(scene.body, "/one"), validated("coded").with("Content-Encoding", "gzip"));
  EXPECT_EQ(scene.get("/one").body, "coded");
  EXPECT_FALSE(scene.shares("/two"));
}

TEST(SharedContent, FailsForNoOtherName) {
  SharedScene scene;
  scene.origin.on(path_of(scene.body, "/one"), Reply(404));
  EXPECT_EQ(scene.get("/one").status, 404);
  EXPECT_EQ(scene.get("/two").body, scene.body);
  EXPECT_EQ(scene.get("/one").status, 200);
}

TEST(SharedContent, IsPurgedWithEachOfItsNames) {
  const TemporaryDirectory home;
  for (const bool disk : {false, true}) {
    SharedScene scene(6, disk ? with_disk(home) : json::object());
    const auto order = [&](const json& what) {
      return scene.proxy.page("/admin/purge", kOnPurpose, "POST", what.dump()).status;
    };
    Client client(scene.proxy.port());
    scene.get("/one");
    EXPECT_TRUE(scene.shares("/two"));
    EXPECT_EQ(client.request("PURGE", scene.url("/two"), kOnPurpose).status, 200);
    EXPECT_FALSE(scene.shares("/two"));  // from here on its own
    EXPECT_TRUE(scene.shares("/three"));
    EXPECT_EQ(order({{"url", scene.url("/three")}}), 200);
    EXPECT_FALSE(scene.shares("/three"));
    EXPECT_TRUE(scene.shares("/four"));
    EXPECT_EQ(order({{"host", "127.0.0.1:" + std::to_string(scene.origin.port())}}), 200);
    EXPECT_FALSE(scene.shares("/four"));
    EXPECT_TRUE(scene.shares("/five"));
    EXPECT_EQ(order({{"prefix", "http://other.test/"}}), 200);
    EXPECT_FALSE(scene.shares("/six")) << "no one knows whether it was of that site";
    EXPECT_TRUE(is_hit(scene.get("/four")));
  }
}

// A digest is no way around a rule.
TEST(SharedContent, IsNotForWhoMayNotAskForTheNameThatItWasFetchedBy) {
  SharedScene scene;
  const auto at = std::to_string(scene.origin.port());
  const auto path = path_of(scene.body, "/one");
  EXPECT_EQ(Client(scene.proxy.port()).get("http://localhost:" + at + path).body, scene.body);
  EXPECT_TRUE(scene.shares("/two"));
  auto settings = by_digest();
  settings["access"]["clients"] = {"loopback"};
  settings["access"]["rules"] =
      json::array({{{"name", "r"}, {"action", "deny"}, {"to", {"localhost"}}}});
  scene.proxy.reload(settings);
  EXPECT_FALSE(scene.shares("/three"));
}

TEST(SharedContent, HasANameThatNobodyCanAskFor) {
  SharedScene scene;
  scene.get("/one");
  const auto digest = path_of(scene.body, "");
  for (const auto& target : {"content:sha256:" + digest.substr(1), "content:sha256" + digest}) {
    Client client(scene.proxy.port());
    client.send("GET " + target + " HTTP/1.1\r\nHost: content\r\n\r\n");
    EXPECT_EQ(client.read().status, 400) << target;
  }
}

// Each asks by names of its own.
TEST(SharedContent, IsGivenToANeighbourThatAsksByAnotherName) {
  const TemporaryDirectory home;
  for (const auto size : {std::size_t{6}, kLarge}) {
    for (const char* trust : {"site", "guest"}) {
      if (size == kLarge && trust == std::string("guest")) continue;  // asked if the origin fails
      ScriptedOrigin origin;
      const auto body = numbered_bytes(size);
      origin.otherwise([&](const Request&) { return validated(body); });
      const Listener at_a;
      const Listener at_b;
      const auto settings = [&](const char* name, const char* other, const Listener& there) {
        json all = with_peer(other, there.port(), with_disk(home, by_digest()));
        all["cache"]["disk"]["path"] = (home.path() / (name + std::to_string(size) + trust));
        all["name"] = name;
        all["peers"][0]["trust"] = trust;
        return all;
      };
      const ProxyProcess a(settings("a", "b", at_b), at_a);
      const ProxyProcess b(settings("b", "a", at_a), at_b);
      EXPECT_TRUE(Client(a.port()).get(origin.url(path_of(body, "/one"))).body == body);
      ASSERT_TRUE(await([&] { return b.digest_peer("a").at("entries") >= 2; }))
          << size << b.digest_peer("a").dump();
      const auto url = origin.url(path_of(body, "/two"));
      const auto given = Client(b.port()).get(url);
      EXPECT_TRUE(given.whole && given.body == body);
      EXPECT_TRUE(contains(nearest_cache_status(given), "peer/a")) << nearest_cache_status(given);
      EXPECT_TRUE(await([&] { return b.digest().at("entries") >= 2; })) << "it is b's own now";
      EXPECT_EQ(origin.count(), 1U);
    }
  }
}

TEST(SharedContent, IsNotGivenToNeighboursIfItsFirstNameIsNot) {
  const auto body = numbered_bytes(6);
  HttpsOrigin origin;
  origin.plain.otherwise([&](const Request&) { return validated(body); });
  ScriptedOrigin plain;
  plain.otherwise([&](const Request&) { return validated(body); });
  auto settings = by_digest(origin.settings());
  settings["mirrors"]["share"] = "none";
  const ProxyProcess proxy(settings);
  const auto path = path_of(body, "/one");
  EXPECT_EQ(MirrorClient(proxy).get(mirror_path(origin.url(path))).body, body);
  const auto url = plain.url(path_of(body, "/two"));
  const Fields question{{"Cache-Control", "only-if-cached"}, {"Via", "1.1 c.test"}};
  EXPECT_EQ(Client(proxy.port()).get(url, question).status, 504);
  EXPECT_EQ(proxy.digest().at("entries"), 0);
  EXPECT_TRUE(is_hit(Client(proxy.port()).get(url))) << "a client of our own gets it";
  EXPECT_EQ(plain.count(), 0U);
}

}  // namespace
}  // namespace scenario
