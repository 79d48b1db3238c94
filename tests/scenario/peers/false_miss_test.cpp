// The proxy asks a neighbour for a sample of the URLs that the neighbour's digest does not claim.
// The answers show how often a digest misses what its cache holds.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

json sampling(double share, json settings = json::object()) {
  settings["digest"]["false_miss_sample"] = share;
  return settings;
}

// The probes sent to the peer. Only probes use HEAD.
std::size_t probes(const PeerScene& scene) {
  const auto requests = scene.peer.requests();
  return static_cast<std::size_t>(
      std::count_if(requests.begin(), requests.end(),
                    [](const Request& request) { return request.method == "HEAD"; }));
}

TEST(FalseMiss, IsFoundByAskingAPeerThatClaimsNothing) {
  PeerScene scene({}, sampling(1));
  scene.peer.on("/held", cacheable("from the peer"));
  scene.peer.on("/not-held", Reply(504));
  scene.peer.on("/refused", Reply(504, {{"Cache-Status", "b; detail=\"refused/loop\""}}));
  scene.peer.on("/forbidden", Reply(403));
  for (const char* path : {"/held", "/not-held", "/refused", "/forbidden"}) {
    const Response response = scene.client->get(scene.origin.url(path), {{"Cookie", "secret"}});
    EXPECT_EQ(response.body, "from the origin") << path;
    ASSERT_TRUE(scene.peer.await_requests(path, 1)) << path;
    EXPECT_EQ(scene.peer.requests(path).at(0).on_connection, 0U) << path << " has its own";
  }
  ASSERT_TRUE(await([&] { return scene.books().at("probes") == 2; })) << scene.books().dump(2);
  const json books = scene.books();
  EXPECT_EQ(books.at("false_misses"), 1);
  EXPECT_EQ(scene.proxy->metric("hearsay_peer_probes_total{peer=\"b\"}"), 2);
  EXPECT_EQ(scene.proxy->metric("hearsay_peer_false_misses_total{peer=\"b\"}"), 1);
  const Request asked = scene.peer.requests("/held").at(0);
  EXPECT_EQ(asked.method, "HEAD");
  EXPECT_EQ(asked.target, scene.origin.url("/held"));
  EXPECT_EQ(asked.field("Cache-Control"), "only-if-cached");
  EXPECT_FALSE(asked.has("Cookie"));
  EXPECT_EQ(scene.origin.count(), 4U);

  // A probe changes no other count.
  EXPECT_EQ(books.at("state"), "usable");
  EXPECT_TRUE(books.at("first_byte_ms").is_null());
  for (const char* count : {"claims", "true_hits", "false_hits", "failures"}) {
    EXPECT_EQ(books.at(count), 0) << count;
  }
}

TEST(FalseMiss, IsLookedForBetweenRealProxiesAndNeverAtTheOrigin) {
  ScriptedOrigin origin;
  origin.otherwise([](const Request&) { return cacheable("hello"); });
  const Neighbours neighbours(
      sampling(1, {{"digest", {{"poll", "1h"}, {"site_collapse", "off"}}}}));
  ASSERT_TRUE(neighbours.b_knows(0));
  Client(neighbours.a.port()).get(origin.url("/a"));  // too late for the digest that b has read
  for (const char* path : {"/a", "/b"}) Client(neighbours.b.port()).get(origin.url(path));
  const auto of_a = [&] { return neighbours.b.digest_peer("a"); };
  ASSERT_TRUE(await([&] { return of_a().at("probes") == 2; })) << of_a().dump(2);
  EXPECT_EQ(of_a().at("false_misses"), 1);
  EXPECT_EQ(of_a().at("false_miss_rate"), 0.5);
  EXPECT_EQ(origin.count("/a"), 2U);
  EXPECT_EQ(origin.count("/b"), 1U);
}

TEST(FalseMiss, IsNotLookedForWhereSiblingsMayNotAnswerOrDoClaim) {
  PeerScene scene({"/claimed"}, sampling(1));
  scene.peer.on("/claimed", cacheable("from the peer"));
  const std::string url = scene.origin.url("/a");
  scene.client->get(scene.origin.url("/claimed"));
  scene.client->get(url, {{"Authorization", "Basic bWU6bWU="}});
  scene.client->request("POST", url, {}, "body");
  scene.client->get(url, {{"Range", "bytes=0-1"}});
  scene.client->get(scene.origin.url("/last"));
  ASSERT_TRUE(scene.peer.await_requests("/last", 1));
  EXPECT_EQ(scene.peer.count("/a"), 0U);
  EXPECT_EQ(scene.peer.count("/claimed"), 1U);
}

TEST(FalseMiss, IsNotLookedForWhenTheSampleIsNothing) {
  PeerScene scene({}, sampling(0));
  for (int i = 0; i < 50; ++i) scene.client->get(scene.origin.url("/" + std::to_string(i)));
  EXPECT_EQ(await_halt([&] { return probes(scene); }), 0U);
}

TEST(FalseMiss, APeerThatStallsCostsTheClientNothingAndOutlastsNobody) {
  PeerScene scene({}, sampling(1, {{"threads", 1}, {"timeouts", {{"peer_first_byte", "30s"}}}}));
  const Gate never;
  scene.peer.otherwise([&](const Request&) { return Reply().wait(never); });
  for (int i = 0; i < 40; ++i) {
    const std::string url = scene.origin.url("/" + std::to_string(i));
    EXPECT_EQ(scene.client->get(url).body, "from the origin");
  }
  EXPECT_EQ(scene.books().at("probes"), 0);
  EXPECT_EQ(scene.books().at("state"), "usable");
  ASSERT_TRUE(await([&] { return probes(scene) > 0; }));
  EXPECT_EQ(await_halt([&] { return probes(scene); }), 16U) << "as many at once as may be";
  scene.client.reset();
  EXPECT_EQ(scene.proxy->terminate(std::chrono::seconds(5)), 0);
}

}  // namespace
}  // namespace scenario
