// Cache-Status on each way of a response through the proxy (RFC 9211).
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

const std::string kTag = "\"v1\"";
const Reply kFresh = cacheable("hello").with("ETag", kTag);
const Reply kStale = cacheable("hello", "max-age=0").with("ETag", kTag);
const Reply kUnchanged = Reply(304, {{"ETag", kTag}, {"Cache-Control", "max-age=60"}});
const Reply kPlain = Reply().body("hello");

// A request, perhaps after a first one, and the proxy's member of Cache-Status in the response.
struct Way {
  const char* name;
  std::string said;
  std::optional<Reply> before = {};  // the origin's answer to the first request; none if only one
  Reply answer = kFresh;             // the origin's answer to the second
  Fields fields = {};
  std::string method = "GET";
  json settings = json::object();
  Fields first_fields = {};
  std::string path = "/a";
};

const Fields kOnlyIfCached{{"Cache-Control", "only-if-cached"}};
json offline() {
  return {{"cache", {{"offline", true}}}};
}
json with_key() {
  return {{"cache", {{"key_in_status", true}}}};
}

std::vector<Way> ways() {
  return {
      {"Hit", "; hit; ttl=3600", kFresh},
      {"HitOfHead", "; hit; ttl=3600", kFresh, kFresh, {}, "HEAD"},
      {"HitOfA304", "; hit; ttl=3600", kFresh, kFresh, {{"If-None-Match", kTag}}},
      {"HitOfARange", "; hit; ttl=3600", kFresh, kFresh, {{"Range", "bytes=1-2"}}},
      {"HitOfWhatIsTakenStale", "; hit; ttl=0", kStale, kFresh, {{"Cache-Control", "max-stale"}}},
      {"HitWhileRevalidating", "; hit; ttl=0; detail=\"stale-while-revalidate\"",
       cacheable("hello", "max-age=0, stale-while-revalidate=60").with("ETag", kTag)},
      {"UriMiss", "; fwd=uri-miss; fwd-status=200; ttl=3600; stored"},
      {"UriMissNotStored",
       "; fwd=uri-miss; fwd-status=200; detail=\"not-stored/no-store\"",
       {},
       cacheable("hello", "no-store")},
      {"VaryMiss",
       "; fwd=vary-miss; fwd-status=200; ttl=3600; stored",
       Reply(kFresh).with("Vary", "X"),
       Reply(kFresh).with("Vary", "X"),
       {{"X", "1"}}},
      {"Stale", "; fwd=stale; fwd-status=200; ttl=3600; stored", kStale},
      {"StaleValidated", "; fwd=stale; fwd-status=304; ttl=60; stored", kStale, kUnchanged},
      {"StaleInPlaceOfAnError", "; fwd=stale; fwd-status=503; ttl=0; detail=\"stale-if-error/503\"",
       cacheable("hello", "max-age=0, stale-if-error=60").with("ETag", kTag), Reply(503)},
      {"StaleInPlaceOfNoAnswer", "; fwd=stale; ttl=0; detail=\"stale-if-error/cut\"", kStale,
       Reply::hang_up()},
      {"StaleOfHead",
       "; fwd=stale; fwd-status=200; detail=\"not-stored/method\"",
       kStale,
       kPlain,
       {},
       "HEAD"},
      {"Request",
       "; fwd=request; fwd-status=304; ttl=60; stored",
       kFresh,
       kUnchanged,
       {{"Cache-Control", "no-cache"}}},
      {"Bypass",
       "; fwd=bypass; fwd-status=200; detail=\"not-stored/for-origin\"",
       kFresh,
       kPlain,
       {{"If-Match", kTag}}},
      {"Method",
       "; fwd=method; fwd-status=200; detail=\"not-stored/method\"",
       kFresh,
       kPlain,
       {},
       "POST"},
      {"NoAnswer", "; fwd=uri-miss; detail=\"cut\"", {}, Reply::hang_up()},
      {"NoAnswerThoughStale", "; fwd=stale; detail=\"cut\"",
       cacheable("hello", "max-age=0, must-revalidate").with("ETag", kTag), Reply::hang_up()},
      {"NoAnswerToAMethod", "; fwd=method; detail=\"cut\"", {}, Reply::hang_up(), {}, "POST"},
      {"OnlyIfCachedMiss", "; fwd=uri-miss", {}, kFresh, kOnlyIfCached},
      {"OnlyIfCachedNot200", "; hit; ttl=60", Reply(404, {{"Cache-Control", "max-age=60"}}), kFresh,
       kOnlyIfCached},
      {"OnlyIfCachedUnfit",
       "; fwd=miss",
       Reply(404, {{"Cache-Control", "max-age=60"}}),
       kFresh,
       {{"Cache-Control", "only-if-cached"}, {"Via", "1.1 b"}}},
      {"Offline", "; fwd=uri-miss; detail=\"offline\"", {}, kFresh, {}, "GET", offline()},
      {"Key", "; hit; ttl=3600; key=\"URL\"", kFresh, kFresh, {}, "GET", with_key()},
      {"KeyOfAMiss",
       "; fwd=uri-miss; fwd-status=200; ttl=3600; stored; key=\"URL\"",
       {},
       kFresh,
       {},
       "GET",
       with_key()},
      {"KeyOfWhatHasNone",
       "; fwd=method; fwd-status=200; detail=\"not-stored/method\"",
       {},
       kPlain,
       {},
       "PUT",
       with_key()},
  };
}

class CacheStatusOf : public testing::TestWithParam<Way> {};

TEST_P(CacheStatusOf, TheWay) {
  const Way& way = GetParam();
  Scene scene(way.settings);
  const std::string url = scene.origin.url(way.path);
  if (way.before) {
    scene.origin.on(way.path, *way.before);
    scene.client.get(url, way.first_fields);
  }
  scene.origin.on(way.path, way.answer);
  const Response response = scene.client.request(way.method, url, way.fields);
  std::string status = nearest_cache_status(response);
  const auto key = status.find(url);
  if (key != std::string::npos) status.replace(key, url.size(), "URL");
  // A second may pass between the two responses.
  const auto ttl = status.find("ttl=3599");
  if (ttl != std::string::npos) status.replace(ttl, 8, "ttl=3600");
  EXPECT_EQ(status.substr(std::min(status.find(';'), status.size())), way.said);
}

INSTANTIATE_TEST_SUITE_P(Rfc9211, CacheStatusOf, testing::ValuesIn(ways()),
                         [](const auto& tested) { return tested.param.name; });

TEST(CacheStatus, SaysThatARequestWaitedForAnothers) {
  Scene scene;
  Gate gate;
  scene.origin.on("/a", Reply(200, {{"Cache-Control", "max-age=60"}}).start().wait(gate).body("x"));
  const std::string url = scene.origin.url("/a");
  scene.client.send(request_text("GET", url));
  ASSERT_TRUE(scene.origin.await_requests("/a", 1));
  Client second(scene.proxy.port());
  second.send(request_text("GET", url));
  const Response head = second.read_head();
  gate.open();
  EXPECT_TRUE(contains(nearest_cache_status(head), "; fwd=uri-miss; fwd-status=200; ttl="));
  EXPECT_TRUE(contains(nearest_cache_status(head), "; stored; collapsed"));
}

TEST(CacheStatus, IsAddedBehindThoseOfOtherCaches) {  // RFC 9211 section 2
  Scene scene;
  const std::string url = scene.origin.url("/a");
  scene.origin.on("/a", Reply(kFresh).with("Cache-Status", "far; hit, near; fwd=miss"));
  EXPECT_TRUE(
      scene.client.get(url).field("Cache-Status").starts_with("far; hit, near; fwd=miss, "));
  EXPECT_FALSE(contains(scene.client.get(url).field("Cache-Status"), "near"));
  const Response passed = scene.client.request("POST", url);
  EXPECT_TRUE(passed.field("Cache-Status").starts_with("far; hit, near; fwd=miss, "));
}

TEST(CacheStatus, SaysWhyARequestWasRefused) {
  Scene scene(json{{"access", json{{"deny_to", {"link-local"}}}}});
  const auto status = [&](const std::string& url, const Fields& fields = {}) {
    return nearest_cache_status(scene.client.get(url, fields));
  };
  EXPECT_TRUE(status("http://169.254.169.254/").ends_with("; detail=\"denied\""));
  EXPECT_TRUE(contains(status("http://name.invalid/"), "; fwd=uri-miss; detail="));
  const std::string us = scene.client.get(scene.origin.url("/b")).field("Via");
  EXPECT_TRUE(status(scene.origin.url("/b"), {{"Via", us}}).ends_with("; detail=\"loop\""));
}

TEST(CacheStatus, SaysOfATunnelThatItsMethodWentForward) {
  ScriptedOrigin origin;
  const json access{{"deny_to", json::array()}, {"connect_ports", {origin.port()}}};
  const ProxyProcess proxy(json{{"access", access}});
  const std::string to = "127.0.0.1:" + std::to_string(origin.port());
  Client client(proxy.port());
  client.send("CONNECT " + to + " HTTP/1.1\r\nHost: " + to + "\r\n\r\n");
  EXPECT_TRUE(nearest_cache_status(client.read("CONNECT")).ends_with("; fwd=method"));
}

}  // namespace
}  // namespace scenario
