// What a neighbour is trusted with, and what bounds that trust.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <set>

#include "tests/scenario/peers/peer_scene.hpp"
#include "tests/support/temporary_directory.hpp"

namespace scenario {
namespace {

const json kCheckAll{{"digest", {{"check_sample", 1}}}};
constexpr const char* kLongAgo = "Wed, 21 Oct 2015 07:28:00 GMT";

// Of this version, which the origin has had for long.
Reply versioned(std::string body, const std::string& version = "v1") {
  return cacheable(std::move(body))
      .with("ETag", '"' + version + '"')
      .with("Last-Modified", kLongAgo);
}

// An origin that answers conditional requests about v1.
Reply validated(const Request& request) {
  if (contains(request.field("If-None-Match"), "\"v1\"")) {
    return Reply(304, {{"ETag", "\"v1\""}, {"Cache-Control", "max-age=3600"}});
  }
  return versioned("from the origin");
}

// Waits until the neighbour is distrusted, and what it gave is purged.
void await_distrust(const PeerScene& scene) {
  EXPECT_TRUE(await([&] { return scene.books().at("contradictions") == 1; }))
      << scene.books().dump(2);
  EXPECT_EQ(scene.books().at("state"), "resting");
  const auto& process = scene.proxy->process();
  EXPECT_TRUE(await([&] {
    return contains(process.errors(), "response of it was dropped") ||
           contains(process.errors(), "responses of it were dropped");
  })) << process.errors();
  EXPECT_TRUE(contains(process.errors(), "never was the origin's"));
}

TEST(Trust, AResponseThatSetsACookieIsNeitherClaimedNorGivenToANeighbour) {
  Scene scene;
  scene.origin.on("/a", cacheable("hello", "public, max-age=60").with("Set-Cookie", "a=b"));
  scene.origin.on("/b", cacheable("hello"));
  const std::string url = scene.origin.url("/a");
  for (const char* path : {"/a", "/b"}) scene.client.get(scene.origin.url(path));
  EXPECT_TRUE(await([&] { return scene.proxy.digest().at("entries") == 1; }));
  const Response refused = scene.client.get(url, {{"Cache-Control", "only-if-cached"}});
  EXPECT_EQ(refused.status, 504);
  EXPECT_FALSE(refused.has("Set-Cookie"));
  EXPECT_TRUE(contains(refused.field("Cache-Status"), "refused/set-cookie"));
  EXPECT_TRUE(is_hit(scene.client.get(url))) << "our own clients have it from the cache";
  EXPECT_EQ(scene.origin.count("/a"), 1U);
}

TEST(Trust, AResponseThatSetsACookieIsTakenFromNoNeighbour) {
  PeerScene scene({"/a", "/b"});
  scene.peer.on("/a", cacheable("from the peer", "public, max-age=60").with("Set-Cookie", "a=b"));
  scene.peer.on(
      "/b",
      cacheable("from the peer", "max-age=60, no-cache=\"set-cookie\"").with("Set-Cookie", "a=b"));
  for (const char* path : {"/a", "/b"}) {
    const Response response = scene.client->get(scene.origin.url(path));
    EXPECT_EQ(response.body, "from the origin") << path;
    EXPECT_FALSE(response.has("Set-Cookie")) << path;
    EXPECT_TRUE(contains(response.field("Cache-Status"), "unusable/b")) << path;
  }
  EXPECT_EQ(scene.books().at("true_hits"), 0);
  EXPECT_EQ(scene.books().at("state"), "usable") << "it did nothing wrong";
}

TEST(Trust, ANeighbourThatLiesRestsAndWhatItGaveIsDropped) {
  PeerScene scene({"/a", "/b", "/c"}, kCheckAll);
  scene.origin.otherwise(validated);
  scene.peer.on("/a", versioned("from the origin"));  // the truth
  scene.peer.on("/b", versioned("a lie of another length"));
  scene.get("/own");
  EXPECT_TRUE(contains(scene.get("/a").field("Cache-Status"), "peer/b"));
  ASSERT_TRUE(scene.origin.await_requests("/a", 1));
  EXPECT_TRUE(is_hit(scene.get("/a"))) << "a check changes nothing by itself";
  EXPECT_EQ(scene.get("/b").body, "a lie of another length") << "no client waits for a check";
  await_distrust(scene);
  for (const char* path : {"/a", "/b", "/c"}) {
    const Response response = scene.get(path);
    EXPECT_FALSE(is_hit(response)) << path;
    EXPECT_EQ(response.body, "from the origin") << path;
  }
  EXPECT_TRUE(is_hit(scene.get("/own")));
  EXPECT_EQ(scene.peer.count("/c"), 0U);
  EXPECT_FALSE(scene.origin.requests("/b").at(0).has("If-None-Match"));
}

TEST(Trust, ANeighbourThatMadeUpAnotherVersionLies) {
  PeerScene scene({"/a"}, kCheckAll);
  scene.origin.otherwise(validated);
  scene.peer.on("/a", cacheable("a lie").with("ETag", "\"evil\""));
  scene.get("/a");
  await_distrust(scene);
}

TEST(Trust, WhatTheOriginHasConfirmedStaysWhenItsGiverIsDistrusted) {
  PeerScene scene({"/a", "/b"}, kCheckAll);
  scene.origin.otherwise(validated);
  scene.peer.on("/a", versioned("from the peer!!"));  // as long as the origin's
  scene.peer.on("/b", versioned("a lie of another length"));
  scene.get("/a");
  const Response confirmed = scene.get("/a", {{"Cache-Control", "no-cache"}});
  EXPECT_EQ(confirmed.body, "from the peer!!");
  EXPECT_TRUE(contains(confirmed.field("Cache-Status"), "fwd-status=304"));
  scene.get("/b");
  await_distrust(scene);
  EXPECT_TRUE(is_hit(scene.get("/a")));
}

TEST(Trust, AResponseInDoubtIsGivenToNoFurtherClient) {
  json settings = kCheckAll;
  settings["digest"]["check_pause"] = "1m";
  PeerScene scene({"/b"}, settings);
  scene.origin.otherwise(validated);
  scene.peer.on("/b", versioned("a lie of another length"));
  EXPECT_EQ(scene.get("/b").body, "a lie of another length");
  EXPECT_TRUE(await([&] { return scene.get("/b").body == "from the origin"; }));
  EXPECT_EQ(scene.peer.count("/b"), 1U);
  EXPECT_EQ(scene.books().at("contradictions"), 0) << "the origin is asked again later";
}

TEST(Trust, EachQuestionOfACheckTakesAConnectionOfItsOwn) {
  PeerScene scene({"/b"}, kCheckAll);
  scene.origin.otherwise(validated);
  scene.peer.on("/b", versioned("a lie of another length"));
  scene.get("/own");
  scene.get("/b");
  await_distrust(scene);
  std::set<std::size_t> connections;
  for (const auto& request : scene.origin.requests("/b")) connections.insert(request.connection);
  EXPECT_EQ(scene.origin.count("/b"), 3U);
  EXPECT_EQ(connections.size(), 3U);
}

// Two servers, one of which has another version. A load balancer leads connections to them in turn.
class TwoServers {
 public:
  Reply operator()(const Request& request) {
    const std::lock_guard lock(mutex_);
    const auto turn = turns_.try_emplace(request.connection, turns_.size()).first->second;
    return turn % 2 == 0 ? versioned("from the other", "v2") : versioned("from the origin");
  }

 private:
  std::mutex mutex_;
  std::map<std::size_t, std::size_t> turns_;  // by connection
};

TEST(Trust, AnHonestNeighbourIsNotDistrustedWhateverItsOriginDoes) {
  std::vector<std::string> paths{"/same", "/changed", "/fails", "/unversioned"};
  for (int i = 0; i < 5; ++i) paths.push_back("/varies/" + std::to_string(i));
  PeerScene scene(paths, kCheckAll);
  std::array<TwoServers, 5> servers;
  scene.origin.on("/same", versioned("from the origin"));
  scene.origin.on("/changed", cacheable("newer").with("ETag", "\"v2\""));
  for (std::size_t i = 0; i < servers.size(); ++i) {
    scene.origin.on("/varies/" + std::to_string(i), std::ref(servers[i]));
  }
  scene.origin.on("/fails", Reply(503));
  scene.origin.on("/unversioned", cacheable("something else"));
  for (const auto& path : paths) {
    scene.peer.on(path, versioned("from the origin"));
    EXPECT_EQ(scene.get(path).body, "from the origin") << path;
    ASSERT_TRUE(scene.origin.await_requests(path, 1)) << path;
  }
  ASSERT_TRUE(scene.origin.await_requests("/varies/0", 2)) << "it is asked again";
  await_halt([&] { return scene.origin.count(); });
  const json books = scene.books();
  EXPECT_EQ(books.at("checks"), paths.size());
  EXPECT_EQ(books.at("contradictions"), 0);
  EXPECT_EQ(books.at("state"), "usable");
  EXPECT_EQ(books.at("true_hits"), paths.size());
  EXPECT_EQ(scene.proxy->metric("hearsay_peer_checks_total{peer=\"b\"}"), paths.size());
}

TEST(Trust, ACheckTellsTheOriginNoSecretOfTheClient) {
  PeerScene scene({"/a"}, kCheckAll);
  scene.peer.on("/a", versioned("from the peer"));
  scene.get("/a", {{"Cookie", "secret"}, {"X-Forwarded-For", "192.0.2.1"}, {"X-End", "1"}});
  ASSERT_TRUE(scene.origin.await_requests("/a", 1));
  const Request asked = scene.origin.requests("/a").at(0);
  EXPECT_EQ(asked.method, "GET");
  EXPECT_FALSE(asked.has("Cookie"));
  EXPECT_FALSE(asked.has("X-Forwarded-For"));
  EXPECT_EQ(asked.field("X-End"), "1");
}

TEST(Trust, NothingIsCheckedWhenTheSampleIsNothing) {
  std::vector<std::string> paths;
  for (int i = 0; i < 50; ++i) paths.push_back("/" + std::to_string(i));
  PeerScene scene(paths);
  for (const auto& path : paths) {
    scene.peer.on(path, versioned("from the peer"));
    EXPECT_EQ(scene.get(path).body, "from the peer");
  }
  EXPECT_EQ(await_halt([&] { return scene.origin.count(); }), 0U);
}

TEST(Trust, WhatALiarGaveIsGoneFromTheDiskAndDoesNotComeBack) {
  const TemporaryDirectory home;
  json settings = kCheckAll;
  settings["cache"]["disk"] = {{"path", (home.path() / "c").string()}, {"size", "64MiB"}};
  PeerScene scene({"/a", "/b"}, settings);
  scene.origin.otherwise(validated);
  scene.peer.on("/a", versioned("from the peer!!"));
  scene.peer.on("/b", versioned("a lie of another length"));
  for (const char* path : {"/own", "/a"}) scene.get(path);
  ASSERT_TRUE(await([&] { return scene.proxy->metric("hearsay_disk_stored_total") >= 2; }));
  scene.crash();
  EXPECT_EQ(scene.given_on("/a").body, "from the peer!!") << "it is on disk";
  scene.get("/b");
  await_distrust(scene);
  for (const char* path : {"/a", "/b"}) EXPECT_EQ(scene.given_on(path).status, 504) << path;
  EXPECT_EQ(scene.given_on("/own").status, 200);
  scene.crash();
  for (const char* path : {"/a", "/b"}) EXPECT_EQ(scene.given_on(path).status, 504) << path;
  EXPECT_EQ(scene.given_on("/own").status, 200);
}

}  // namespace
}  // namespace scenario
