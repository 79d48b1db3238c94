// The operator's purges: PURGE of one URL, and orders for many.
#include <gtest/gtest.h>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

struct Held : Scene {
  explicit Held(const json& settings = json::object()) : Scene(settings) {
    origin.otherwise([](const Request&) { return cacheable("hello"); });
  }
  Response purge(const std::string& path, const Fields& fields = kOnPurpose) {
    return client.request("PURGE", origin.url(path), fields);
  }
  bool holds(const char* path) { return is_hit(client.get(origin.url(path))); }
};

// POST to /admin/purge, over a new connection.
Response order(const ProxyProcess& proxy, std::string_view body,
               const Fields& fields = kOnPurpose) {
  return proxy.page("/admin/purge", fields, "POST", body);
}
Response order(const ProxyProcess& proxy, const json& body) {
  return order(proxy, std::string_view(body.dump()));
}
int purged(const Response& response) {
  return response.status == 200 ? json::parse(response.body).at("purged").get<int>() : -1;
}

TEST(Purge, DropsEveryVariantOfAUrl) {
  Held scene;
  scene.origin.on("/a", cacheable("hello").with("Vary", "X-A"));
  for (const char* value : {"1", "2"}) {
    scene.client.get(scene.origin.url("/a"), {{"X-A", value}});
  }
  ASSERT_FALSE(scene.holds("/b"));
  const Response answer = scene.purge("/a");
  EXPECT_EQ(purged(answer), 2);
  EXPECT_EQ(scene.purge("/a").status, 404);
  EXPECT_TRUE(scene.holds("/b"));
  EXPECT_FALSE(is_hit(scene.client.get(scene.origin.url("/a"), {{"X-A", "1"}})));
  for (const auto& request : scene.origin.requests()) EXPECT_NE(request.method, "PURGE");
  EXPECT_EQ(scene.proxy.metric("hearsay_purged_total"), 2);
  EXPECT_EQ(scene.proxy.metric("hearsay_requests_total{result=\"purge\"}"), 2);
}

TEST(Purge, IsLoggedAsSquidDoes) {
  Held scene;
  scene.purge("/a");
  const LogLine line = scene.proxy.logged(scene.origin.url("/a"));
  EXPECT_EQ(line.method, "PURGE");
  EXPECT_EQ(line.result, "TCP_MISS");
  EXPECT_EQ(line.status, 404);
  EXPECT_EQ(line.hierarchy, "HIER_NONE");
}

TEST(PurgeOrder, IsLoggedAsARequestForAnOwnPage) {
  const ProxyProcess proxy;
  const auto logged = [&] { return proxy.logged("http://" + proxy.address() + "/admin/purge"); };
  ASSERT_EQ(order(proxy, json{{"host", "*"}}).status, 200);
  EXPECT_EQ(logged().result, "NONE_NONE");
  ASSERT_EQ(order(proxy, R"({"host": "*"})", {}).status, 403);
  EXPECT_TRUE(await([&] { return logged().status == 403; }));
  EXPECT_EQ(logged().result, "NONE_NONE") << "not denied";
  EXPECT_EQ(proxy.metric("hearsay_requests_total{result=\"denied\"}"), 0);
}

TEST(Purge, IsForAdministratorsWhoAskDirectlyAndOnPurpose) {
  Held scene;
  scene.holds("/a");
  EXPECT_EQ(scene.purge("/a", {}).status, 403);
  EXPECT_EQ(scene.purge("/a", {{"X-Hearsay", "1"}, {"Via", "1.1 b"}}).status, 403);
  EXPECT_EQ(scene.purge("/a", {{"X-Hearsay", "1"}, {"X-Forwarded-For", "x"}}).status, 403);
  EXPECT_TRUE(scene.holds("/a"));
  Held strict(json{{"access", {{"admin", {"192.0.2.1"}}}}});
  strict.holds("/a");
  EXPECT_EQ(strict.purge("/a").status, 403);
  EXPECT_EQ(order(strict.proxy, json{{"host", "*"}}).status, 403);
  EXPECT_TRUE(strict.holds("/a"));
}

TEST(Purge, OfAMappedSiteRemovesResponsesOfReverseMode) {
  ScriptedOrigin origin;
  origin.otherwise([](const Request&) { return cacheable("hello"); });
  const json mapping{{"host", "*"}, {"to", origin.url("")}};
  const ProxyProcess proxy(json{{"reverse", {mapping}}});
  Client client(proxy.port());
  const auto ask = [&](const std::string& method, const Fields& fields = {}) {
    client.send(origin_form_text("a.test", method, "/a", fields));
    return client.read();
  };
  ask("GET");
  ASSERT_TRUE(is_hit(ask("GET")));
  EXPECT_EQ(client.request("PURGE", "http://a.test/a", kOnPurpose).status, 404) << "not forward's";
  EXPECT_EQ(ask("PURGE", kOnPurpose).status, 200);
  EXPECT_FALSE(is_hit(ask("GET")));
  EXPECT_EQ(purged(order(proxy, json{{"url", "http://A.test:80/a"}})), 1);
  EXPECT_FALSE(is_hit(ask("GET")));
  EXPECT_EQ(purged(order(proxy, json{{"host", "a.test"}})), 1);
  EXPECT_FALSE(is_hit(ask("GET")));
}

struct Many {
  const char* name;
  json order;  // PORT stands for the origin's port
  std::vector<std::string> gone;
};
class PurgeOf : public testing::TestWithParam<Many> {};

TEST_P(PurgeOf, ManyUrlsTakesAllOfThemAndNoOther) {
  Held scene;
  const std::vector<std::string> all{"/a", "/a/b", "/a/b?c", "/ab", "/b"};
  for (const auto& path : all) scene.client.get(scene.origin.url(path));
  std::string body = GetParam().order.dump();
  if (const auto at = body.find("PORT"); at != body.npos) {
    body.replace(at, 4, std::to_string(scene.origin.port()));
  }
  EXPECT_EQ(purged(order(scene.proxy, std::string_view(body))), GetParam().gone.size());
  for (const auto& path : all) {
    const bool gone = std::count(GetParam().gone.begin(), GetParam().gone.end(), path) > 0;
    EXPECT_NE(is_hit(scene.client.get(scene.origin.url(path))), gone) << path;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Orders, PurgeOf,
    testing::Values(
        Many{"Url", {{"url", "http://127.0.0.1:PORT/a"}}, {"/a"}},
        Many{"Prefix", {{"prefix", "http://127.0.0.1:PORT/a/"}}, {"/a/b", "/a/b?c"}},
        Many{"Site", {{"prefix", "HTTP://127.1:PORT"}}, {"/a", "/a/b", "/a/b?c", "/ab", "/b"}},
        Many{"Host", {{"host", "127.0.0.1"}}, {"/a", "/a/b", "/a/b?c", "/ab", "/b"}},
        Many{"HostAndPort", {{"host", "127.0.0.1:PORT"}}, {"/a", "/a/b", "/a/b?c", "/ab", "/b"}},
        Many{"OtherPort", {{"host", "127.0.0.1:1"}}, {}},
        Many{"Everything", {{"host", "*"}}, {"/a", "/a/b", "/a/b?c", "/ab", "/b"}},
        Many{"AnotherHost", {{"host", "*.example.com"}}, {}}),
    [](const auto& tested) { return tested.param.name; });

TEST(PurgeOrder, SaysWhatIsWrongWhere) {
  const Scene scene;
  const Response wrong = order(scene.proxy, std::string_view("{\"hots\": \"a.test\"}"));
  EXPECT_EQ(wrong.status, 400);
  EXPECT_TRUE(contains(wrong.body, "line 1, column 2, hots: ")) << wrong.body;
  EXPECT_TRUE(contains(wrong.body, "did you mean \"host\"?")) << wrong.body;
  EXPECT_EQ(order(scene.proxy, std::string_view(std::string(40'000, ' '))).status, 413);
  EXPECT_EQ(order(scene.proxy, std::string_view("{\"host\": \"*\"}"), {}).status, 403);
}

TEST(PurgeOrder, AlsoComesInChunksAndAfterAsking) {
  const Scene scene;
  Client client(scene.proxy.port());
  client.send(
      "POST /admin/purge HTTP/1.1\r\nHost: localhost\r\nX-Hearsay: 1\r\n"
      "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_interim().status, 100);
  client.send(chunk("{\"host\": ") + chunk("\"*\"}") + std::string(kLastChunk));
  EXPECT_EQ(purged(client.read("POST")), 0);
}

// A response requested before a purge reaches the client that requested it, and no other.
class PurgeMeanwhile : public testing::TestWithParam<bool> {};

TEST_P(PurgeMeanwhile, KeepsFetchesUnderWayFromBeingStored) {
  Held scene;
  Gate gate;
  scene.origin.on(
      "/a",
      Reply(200, {{"Cache-Control", "max-age=60"}}).sized(4).send("ol").wait(gate).send("d!"));
  scene.client.send(request_text("GET", scene.origin.url("/a")));
  scene.client.read_head();
  if (GetParam()) {
    Client admin(scene.proxy.port());
    EXPECT_EQ(admin.request("PURGE", scene.origin.url("/a"), kOnPurpose).status, 404)
        << "not yet held";
  } else {
    EXPECT_EQ(purged(order(scene.proxy, json{{"host", "127.0.0.1"}})), 0);
  }
  scene.origin.on("/a", cacheable("new"));
  EXPECT_EQ(Client(scene.proxy.port()).get(scene.origin.url("/a")).body, "new") << "does not join";
  gate.open();
  EXPECT_EQ(scene.client.read_body(4), "old!");
  EXPECT_EQ(Client(scene.proxy.port()).get(scene.origin.url("/a")).body, "new");
}

INSTANTIATE_TEST_SUITE_P(ByUrlAndByHost, PurgeMeanwhile, testing::Bool());

TEST(Purge, TakesTheDigestsClaimWithItAndAsksNoNeighbourForTheOldCopy) {
  const Neighbours neighbours;
  ScriptedOrigin origin;
  origin.otherwise([](const Request&) { return cacheable("hello"); });
  Client a(neighbours.a.port());
  Client b(neighbours.b.port());
  for (const char* path : {"/a", "/b", "/c"}) a.get(origin.url(path));
  ASSERT_TRUE(neighbours.b_knows(3));
  b.request("PURGE", origin.url("/a"), kOnPurpose);
  order(neighbours.b, json{{"prefix", origin.url("/b")}});
  for (const char* path : {"/a", "/b"}) {
    EXPECT_FALSE(contains(b.get(origin.url(path)).field("Cache-Status"), "peer/a")) << path;
  }
  EXPECT_TRUE(contains(b.get(origin.url("/c")).field("Cache-Status"), "peer/a"));
  EXPECT_EQ(purged(a.request("PURGE", origin.url("/a"), kOnPurpose)), 1);
  EXPECT_TRUE(neighbours.b_knows(2));
}

}  // namespace
}  // namespace scenario
