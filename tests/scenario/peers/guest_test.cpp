// A neighbour whose setting `trust` is "guest".
#include <gtest/gtest.h>

#include <atomic>

#include "tests/scenario/peers/peer_scene.hpp"
#include "tests/support/temporary_directory.hpp"

namespace scenario {
namespace {

json confirming(double share) {
  return {{"digest", {{"confirm_sample", share}}}};
}

// As a guest claims it: fresh for a year.
Reply of_guest(std::string body) {
  return cacheable(std::move(body), "max-age=31536000, stale-while-revalidate=31536000")
      .with("ETag", "\"v1\"");
}

// An origin that has the same version, fresh for a minute.
Reply confirming_origin(const Request& request) {
  if (contains(request.field("If-None-Match"), "\"v1\"")) {
    return Reply(304, {{"ETag", "\"v1\""}, {"Cache-Control", "max-age=60"}});
  }
  return cacheable("from the origin").with("ETag", "\"v1\"");
}

int ttl_of(const Response& response) {
  const auto status = nearest_cache_status(response);
  const auto at = status.find("ttl=");
  return at == std::string::npos ? -1 : std::stoi(status.substr(at + 4));
}

TEST(Guest, ItsResponseServesOurClientsAnHourAtMostAndNoNeighbour) {
  PeerScene scene({"/a"}, confirming(0), "guest");
  scene.peer.on("/a", of_guest("from the guest"));
  EXPECT_EQ(scene.get("/a").body, "from the guest");
  const Response hit = scene.get("/a");
  EXPECT_TRUE(is_hit(hit));
  EXPECT_GT(ttl_of(hit), 3000);
  EXPECT_LE(ttl_of(hit), 3600);
  const Response refused = scene.given_on("/a");
  EXPECT_EQ(refused.status, 504);
  EXPECT_TRUE(contains(refused.field("Cache-Status"), "refused/unconfirmed"));
  scene.get("/own");
  EXPECT_TRUE(await([&] { return scene.proxy->digest().at("entries") == 1; }));
  EXPECT_EQ(scene.given_on("/own").status, 200);
  EXPECT_EQ(scene.origin.count("/a"), 0U);
}

TEST(Guest, ItsResponseIsForAllOnceTheOriginHasConfirmedIt) {
  PeerScene scene({"/a"}, confirming(1), "guest");
  scene.origin.on("/a", confirming_origin);
  scene.peer.on("/a", of_guest("from the guest"));
  scene.get("/a");
  EXPECT_EQ(scene.origin.count("/a"), 0U) << "it may never be used again";
  EXPECT_TRUE(is_hit(scene.get("/a")));
  ASSERT_TRUE(scene.origin.await_requests("/a", 1));
  EXPECT_EQ(scene.origin.requests("/a").at(0).field("If-None-Match"), "\"v1\"");
  EXPECT_TRUE(await([&] { return scene.given_on("/a").status == 200; }));
  const Response confirmed = scene.get("/a");
  EXPECT_EQ(confirmed.body, "from the guest");
  EXPECT_LE(ttl_of(confirmed), 60) << "as the origin says";
  EXPECT_TRUE(await([&] { return scene.proxy->digest().at("entries") == 1; }));
  scene.get("/a");
  EXPECT_EQ(await_halt([&] { return scene.origin.count("/a"); }), 1U) << "once is enough";
}

TEST(Guest, ItsResponseIsReplacedIfTheOriginHasAnother) {
  PeerScene scene({"/a"}, confirming(1), "guest");
  scene.origin.on("/a", cacheable("newer").with("ETag", "\"v2\""));
  scene.peer.on("/a", of_guest("from the guest"));
  scene.get("/a");
  EXPECT_EQ(scene.get("/a").body, "from the guest");
  EXPECT_TRUE(await([&] { return scene.given_on("/a").body == "newer"; }));
  EXPECT_EQ(scene.get("/a").body, "newer");
  EXPECT_EQ(scene.books().at("contradictions"), 0) << "the origin may have changed";
}

// The origin would take the made-up time for newer than its response.
TEST(Guest, ItsResponseIsNotConfirmedByATimeThatItMadeUp) {
  PeerScene scene({"/a"}, confirming(1), "guest");
  scene.origin.on("/a", [](const Request& request) {
    return request.has("If-Modified-Since") ? Reply(304) : cacheable("from the origin");
  });
  scene.peer.on("/a", cacheable("a lie", "max-age=1").with("Last-Modified", http_date()));
  for (int i = 0; i < 3; ++i) scene.get("/a");
  EXPECT_EQ(scene.given_on("/a").status, 504);
  EXPECT_TRUE(await([&] { return scene.get("/a").body == "from the origin"; })) << "once stale";
}

// Such a tag matches whatever the origin has (RFC 9110 13.1.2).
TEST(Guest, ItsResponseIsNotConfirmedByATagThatItMadeUp) {
  for (const char* tag : {"*", "\"v1\""}) {
    PeerScene scene({"/a"}, confirming(1), "guest");
    scene.origin.on("/a", [](const Request& request) {
      return request.has("If-None-Match") ? Reply(304) : cacheable("from the origin");
    });
    scene.peer.on("/a", cacheable("a lie", "max-age=1").with("ETag", tag));
    for (int i = 0; i < 3; ++i) scene.get("/a");
    EXPECT_EQ(await_halt([&] { return scene.given_on("/a").body == "a lie"; }), false) << tag;
    EXPECT_TRUE(await([&] { return scene.get("/a").body == "from the origin"; })) << "once stale";
  }
}

TEST(Guest, ItsResponseDoesNotHideAVariantOfTheOrigin) {
  PeerScene scene({"/a"}, confirming(0), "guest");
  scene.origin.on("/a", cacheable("from the origin").with("Vary", "X-A"));
  const Fields past_neighbours{{"X-A", "1"}, {"Cache-Control", "no-cache"}};
  EXPECT_EQ(scene.get("/a", past_neighbours).body, "from the origin");
  scene.peer.on("/a", cacheable("from the guest").with("Vary", "X-None"));
  ASSERT_TRUE(await([&] { return scene.get("/a", {{"X-A", "2"}}).body == "from the guest"; }));
  EXPECT_EQ(scene.get("/a", {{"X-A", "1"}}).body, "from the origin");
}

TEST(Guest, ItsBytesAreNotJoinedWithTheOrigins) {
  PeerScene scene({"/a"}, confirming(0), "guest");
  scene.origin.on("/a", [](const Request& request) {
    const bool rest = request.has("Range");
    const auto reply = cacheable(rest ? "igin" : "from the origin").with("ETag", "\"v1\"");
    return rest ? Reply(206, {{"ETag", "\"v1\""}, {"Content-Range", "bytes 11-14/15"}}).body("igin")
                : reply;
  });
  scene.peer.on("/a", Reply(200, {{"Cache-Control", "max-age=60"}, {"ETag", "\"v1\""}})
                          .sized(15)
                          .send("a lie first")
                          .cut());
  EXPECT_EQ(scene.get("/a").body, "from the origin");
}

TEST(Guest, ThatLiesIsFoundOutWhenItsResponseIsToBeConfirmed) {
  PeerScene scene({"/a", "/b"}, confirming(1), "guest");
  scene.origin.on("/a", cacheable("from the origin")
                            .with("ETag", "\"v1\"")
                            .with("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT"));
  scene.peer.on("/a", cacheable("a lie").with("ETag", "\"evil\""));
  scene.peer.on("/b", cacheable("another lie"));
  scene.get("/b");
  scene.get("/a");
  EXPECT_EQ(scene.get("/a").body, "a lie");
  EXPECT_TRUE(await([&] { return scene.books().at("contradictions") == 1; }));
  EXPECT_EQ(scene.books().at("state"), "resting");
  EXPECT_TRUE(await([&] { return scene.get("/b").body == "from the origin"; }));
  EXPECT_EQ(scene.get("/a").body, "from the origin");
}

// Here the origin never confirms, so every request may be one that asks.
TEST(Guest, CostsTheOriginAtMostASmallShareOfTheRequestsItAnswers) {
  PeerScene scene({"/a"}, json::object(), "guest");
  scene.origin.on("/a", Reply(503));
  scene.peer.on("/a", of_guest("from the guest"));
  for (int i = 0; i < 600; ++i) EXPECT_EQ(scene.get("/a").body, "from the guest");
  const auto asked = await_halt([&] { return scene.origin.count("/a"); });
  EXPECT_GT(asked, 0U);
  EXPECT_LT(asked, 120U) << "one in twenty, as chance has it";
  EXPECT_EQ(scene.peer.count("/a"), 1U);
}

TEST(Guest, IsNotAskedForParts) {
  PeerScene scene({"/a"}, json::object(), "guest");
  scene.origin.on("/a", Reply(206, {{"Content-Range", "bytes 0-1/4"}}).body("or"));
  scene.peer.on("/a", of_guest("from the guest"));
  EXPECT_EQ(scene.get("/a", {{"Range", "bytes=0-1"}}).body, "or");
  EXPECT_EQ(scene.peer.count("/a"), 0U);
}

TEST(Guest, ItsResponsesAreNotOnDiskBeforeTheOriginHasConfirmedThem) {
  const TemporaryDirectory home;
  json settings = confirming(1);
  settings["cache"]["disk"] = {{"path", (home.path() / "c").string()}, {"size", "128MiB"}};
  PeerScene scene({"/a", "/large", "/unsized"}, settings, "guest");
  const std::string large = numbered_bytes(5U << 20);
  scene.origin.on("/a", confirming_origin);
  scene.peer.on("/a", of_guest("from the guest"));
  scene.peer.on("/large", of_guest(large));
  scene.peer.on("/unsized", Reply(200, {{"Cache-Control", "max-age=60"}}).chunked().send(large));
  for (const char* path : {"/large", "/unsized"}) scene.origin.on(path, Reply(503));
  for (const char* path : {"/large", "/unsized"}) {
    EXPECT_TRUE(scene.get(path).body == large) << path;
  }
  EXPECT_TRUE(is_hit(scene.get("/large"))) << "from memory, as one piece";
  EXPECT_EQ(scene.get("/a").body, "from the guest");
  EXPECT_TRUE(is_hit(scene.get("/a")));
  EXPECT_TRUE(await([&] { return scene.proxy->metric("hearsay_disk_stored_total") == 1; }));
  scene.crash();
  EXPECT_EQ(scene.given_on("/a").body, "from the guest") << "confirmed";
  for (const char* path : {"/large", "/unsized"}) {
    EXPECT_EQ(scene.get(path, {{"Cache-Control", "only-if-cached"}}).status, 504) << path;
  }
}

}  // namespace
}  // namespace scenario
