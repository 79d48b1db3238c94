// A stale response is served only where a rule allows it, and says so (RFC 9111 section 4.2.4,
// RFC 5861).
#include <gtest/gtest.h>

#include <optional>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

// A stored response that is stale from the start, and an origin that can be stopped.
struct Cut {
  explicit Cut(const std::string& cache_control, const json& settings = json::object())
      : proxy(settings), client(proxy.port()) {
    origin.emplace();
    url = origin->url("/a");
    origin->on("/a", cacheable("old", cache_control).with("ETag", "\"v1\""));
    client.get(url);
  }
  Response get(const Fields& fields = {}) { return client.get(url, fields); }
  Response get_when_gone(const Fields& fields = {}) {
    origin.reset();
    return get(fields);
  }

  std::optional<ScriptedOrigin> origin;
  ProxyProcess proxy;
  Client client;
  std::string url;
};

bool stood_in(const Response& response, std::string_view why) {
  const std::string status = nearest_cache_status(response);
  return response.status == 200 && response.body == "old" && contains(status, "fwd=stale") &&
         contains(status, "; ttl=") && contains(status, "\"stale-if-error/" + std::string(why));
}

TEST(Stale, StandsInForAnOriginThatIsGone) {
  Cut scene("max-age=0");
  const Response stale = scene.get_when_gone();
  EXPECT_TRUE(stood_in(stale, "unreachable")) << nearest_cache_status(stale);
  EXPECT_TRUE(stale.has("Age"));
}

TEST(Stale, StandsInForAnOriginThatSaysNothing) {
  Cut scene("max-age=0");
  scene.origin->on("/a", Reply::hang_up());
  const Response stale = scene.get();
  EXPECT_TRUE(stood_in(stale, "cut")) << nearest_cache_status(stale);
}

TEST(Stale, StandsInForHeadAndRangeToo) {
  Cut scene("max-age=0");
  const Response part = scene.get_when_gone({{"Range", "bytes=1-1"}});
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "l");
  const Response head = scene.client.request("HEAD", scene.url);
  EXPECT_EQ(head.status, 200);
  EXPECT_TRUE(contains(nearest_cache_status(head), "stale-if-error/"));
}

TEST(Stale, DoesNotStandInWhereThatIsForbidden) {
  for (const char* directive : {"must-revalidate", "proxy-revalidate", "s-maxage=0", "no-cache"}) {
    Cut scene(std::string("max-age=0, stale-if-error=60, ") + directive);
    EXPECT_EQ(scene.get_when_gone().status, 502) << directive;
  }
}

TEST(Stale, DoesNotStandInWhereTheSettingIsOff) {
  Cut silent("max-age=0", {{"cache", {{"stale_if_error", "0s"}}}});
  EXPECT_EQ(silent.get_when_gone().status, 502);
  Cut lenient("max-age=0, stale-if-error=60", {{"cache", {{"stale_if_error", "0s"}}}});
  EXPECT_TRUE(stood_in(lenient.get_when_gone(), "unreachable"));
}

TEST(Stale, StandsInForAnErrorOnlyByExplicitLeave) {  // RFC 5861 section 4
  Cut silent("max-age=0");
  silent.origin->on("/a", Reply(503));
  EXPECT_EQ(silent.get().status, 503);
  const Response asked = silent.get({{"Cache-Control", "stale-if-error=60"}});
  EXPECT_TRUE(stood_in(asked, "503")) << nearest_cache_status(asked);
  EXPECT_TRUE(contains(nearest_cache_status(asked), "fwd-status=503"));
  Cut lenient("max-age=0, stale-if-error=60");
  for (const int status : {500, 502, 503, 504}) {
    lenient.origin->on("/a", Reply(status));
    EXPECT_TRUE(stood_in(lenient.get(), std::to_string(status))) << status;
  }
  lenient.origin->on("/a", Reply(501));
  EXPECT_EQ(lenient.get().status, 501);
}

TEST(Stale, AnswersAtOnceAndIsRefreshedOnce) {  // RFC 5861 section 3
  Cut scene("max-age=0, stale-while-revalidate=60");
  Gate gate;
  scene.origin->on(
      "/a",
      Reply(200, {{"Cache-Control", "max-age=60"}, {"ETag", "\"v2\""}}).wait(gate).body("new"));
  for (int i = 0; i < 3; ++i) {
    const Response stale = scene.get();
    EXPECT_EQ(stale.body, "old");
    EXPECT_TRUE(is_hit(stale)) << nearest_cache_status(stale);
    EXPECT_TRUE(contains(nearest_cache_status(stale), "detail=\"stale-while-revalidate\""));
  }
  ASSERT_TRUE(scene.origin->await_requests("/a", 2));
  gate.open();
  ASSERT_TRUE(await([&] { return scene.get().body == "new"; }));
  EXPECT_EQ(scene.origin->count("/a"), 2U);
  EXPECT_EQ(scene.origin->requests("/a").at(1).field("If-None-Match"), "\"v1\"");
}

TEST(Stale, IsNotFreshenedByA304ThatNobodyAskedFor) {  // the proxy has no validator to ask about
  Scene scene;
  scene.origin.on("/a", [&](const Request&) {
    const bool first = scene.origin.count("/a") == 1;
    return first ? cacheable("old", "max-age=1, stale-while-revalidate=60")
                 : Reply(304, {{"Cache-Control", "max-age=60"}});
  });
  EXPECT_TRUE(await([&] {
    EXPECT_EQ(scene.client.get(scene.origin.url("/a")).body, "old");
    return scene.origin.count("/a") >= 3;  // two refreshes: the first changed nothing
  }));
}

// A response to credentials may be for their client alone, so it could only drop the stored one.
TEST(Stale, IsNotRefreshedWithAClientsCredentials) {
  Cut scene("max-age=0, stale-while-revalidate=60");
  scene.origin->on("/a", cacheable("new"));
  EXPECT_EQ(scene.get({{"Authorization", "Basic eDp5"}}).body, "old");
  ASSERT_TRUE(await([&] { return scene.get().body == "new"; }));
  EXPECT_EQ(scene.origin->count("/a"), 2U);
  EXPECT_EQ(scene.origin->requests("/a").at(1).field("Authorization"), "");
}

TEST(Stale, KeepsWhatCouldNotBeRefreshed) {
  Cut scene("max-age=0, stale-while-revalidate=60");
  std::size_t asked = 1;
  for (const Reply& failure : {Reply(503, {{"Cache-Control", "max-age=60"}}), Reply::hang_up()}) {
    scene.origin->on("/a", failure);
    for (const auto wanted = ++asked; scene.origin->count("/a") < wanted;) {
      EXPECT_EQ(scene.get().body, "old");
    }
  }
  scene.origin->on("/a", cacheable("new"));
  EXPECT_TRUE(await([&] { return scene.get().body == "new"; }));
}

TEST(Stale, IsRefreshedWholeThoughNobodyReadsIt) {
  Cut scene("max-age=0, stale-while-revalidate=60");
  const std::string large = numbered_bytes(3'000'000);
  scene.origin->on("/a", Reply(200, {{"Cache-Control", "max-age=60"}}).chunked().send(large));
  EXPECT_TRUE(await([&] { return scene.get().body == large; }));
  EXPECT_EQ(scene.origin->count("/a"), 2U);
}

TEST(Stale, IsAllThereIsOffline) {
  Scene scene(json{{"cache", {{"offline", true}}}});
  scene.origin.otherwise([](const Request&) { return cacheable("hello"); });
  for (const char* method : {"GET", "HEAD", "POST"}) {
    const Response refused = scene.client.request(method, scene.origin.url("/a"));
    EXPECT_EQ(refused.status, 504) << method;
    EXPECT_TRUE(contains(nearest_cache_status(refused), "detail=\"offline\"")) << method;
  }
  EXPECT_EQ(scene.client.request("CONNECT", "127.0.0.1:443").status, 504);
  EXPECT_EQ(scene.origin.connections(), 0U);
}

// The status for an origin that the proxy found unreachable, and that has come back since.
int status_after_return(const char* unreachable) {
  const ProxyProcess proxy(json{{"threads", 1}, {"timeouts", {{"unreachable", unreachable}}}});
  const ReservedPort port;
  const std::string address = "127.0.0.1:" + std::to_string(port.port());
  Client client(proxy.port());
  EXPECT_EQ(client.get("http://" + address + "/a").status, 502);
  const ProxyProcess origin(json{{"listen", {address}}});
  return client.get("http://" + address + "/a").status;
}

TEST(Unreachable, OriginsAreLeftAloneForATime) {
  EXPECT_EQ(status_after_return("1h"), 502);
  EXPECT_NE(status_after_return("0s"), 502);
}

}  // namespace
}  // namespace scenario
