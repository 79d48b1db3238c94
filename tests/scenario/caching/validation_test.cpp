// The proxy validates a stale response instead of fetching it again, and merges the 304's fields.
#include <gtest/gtest.h>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

// A 304 to requests with the validator, and a 200 to others. The 200 is stale from the start, so
// that no test has to wait.
ScriptedOrigin::Answer unchanged(const Fields& validator, std::string_view condition,
                                 const Fields& merged) {
  return [=, condition = std::string(condition)](const Request& request) {
    if (request.field(condition) == validator[0].second) return Reply(304, merged);
    return Reply(200, validator).with("Cache-Control", "max-age=0").body("hello");
  };
}

TEST(Validation, ByETagKeepsTheBodyAndTakesTheNewFields) {  // RFC 9111 section 4.3.4
  Scene scene;
  scene.origin.on(
      "/a", unchanged({{"ETag", "\"v1\""}}, "If-None-Match",
                      {{"ETag", "\"v1\""}, {"Cache-Control", "max-age=60"}, {"X-Round", "2"}}));
  const std::string url = scene.origin.url("/a");
  scene.client.get(url);
  const Response validated = scene.client.get(url);
  EXPECT_EQ(validated.status, 200);
  EXPECT_EQ(validated.body, "hello");
  EXPECT_EQ(validated.field("X-Round"), "2");
  EXPECT_TRUE(contains(validated.field("Cache-Status"), "fwd=stale"));
  const Response hit = scene.client.get(url);
  EXPECT_TRUE(is_hit(hit));
  EXPECT_EQ(hit.field("X-Round"), "2");
  EXPECT_EQ(scene.origin.count(), 2U);
}

TEST(Validation, ByLastModified) {
  Scene scene;
  const std::string date = "Sat, 01 Jan 2022 00:00:00 GMT";
  scene.origin.on("/a", unchanged({{"Last-Modified", date}}, "If-Modified-Since",
                                  {{"Cache-Control", "max-age=60"}}));
  const std::string url = scene.origin.url("/a");
  scene.client.get(url);
  EXPECT_EQ(scene.client.get(url).body, "hello");
  EXPECT_TRUE(is_hit(scene.client.get(url)));
  EXPECT_EQ(scene.origin.requests().at(1).field("If-Modified-Since"), date);
}

TEST(Validation, TakesANewVersionInPlaceOfTheOld) {
  Scene scene;
  scene.origin.on("/a", cacheable("old", "max-age=0").with("ETag", "\"v1\""));
  const std::string url = scene.origin.url("/a");
  scene.client.get(url);
  scene.origin.on("/a", cacheable("new").with("ETag", "\"v2\""));
  EXPECT_EQ(scene.client.get(url).body, "new");
  const Response hit = scene.client.get(url);
  EXPECT_TRUE(is_hit(hit));
  EXPECT_EQ(hit.body, "new");
}

TEST(Validation, IsWhatAClientsNoCacheAsksFor) {
  Scene scene;
  scene.origin.on("/a", cacheable("hello").with("ETag", "\"v1\""));
  const std::string url = scene.origin.url("/a");
  scene.client.get(url);
  scene.origin.on("/a", [](const Request& request) {
    return request.field("If-None-Match") == "\"v1\"" ? Reply(304) : cacheable("fetched");
  });
  const Response response = scene.client.get(url, {{"Cache-Control", "no-cache"}});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "hello");
  EXPECT_EQ(scene.origin.count(), 2U);
}

TEST(Validation, GivesTheClientA304OnlyForTheClientsOwnCondition) {
  Scene scene;
  scene.origin.on("/a", unchanged({{"ETag", "\"v1\""}}, "If-None-Match", {}));
  const std::string url = scene.origin.url("/a");
  scene.client.get(url);
  EXPECT_EQ(scene.client.get(url, {{"If-None-Match", "\"v1\""}}).status, 304);
  EXPECT_EQ(scene.client.get(url, {{"If-None-Match", "\"v9\""}}).status, 200);
  EXPECT_EQ(scene.client.get(url).status, 200);
}

// One request validates the stored "v1" and the client's "v2" (RFC 9111 section 4.3.1).
struct TwoVersions : Scene {
  explicit TwoVersions(const Reply& second) : url(origin.url("/a")) {
    origin.on("/a", cacheable("one", "max-age=0").with("ETag", "\"v1\""));
    client.get(url);
    origin.on("/a", [second](const Request& request) {
      return request.has("If-None-Match") ? second : cacheable("fetched").with("ETag", "\"v3\"");
    });
    answer = client.get(url, {{"If-None-Match", "\"v2\""}});
  }
  const std::string url;
  Response answer;
};

TEST(Validation, NamesTheClientsTagsBesideItsOwn) {
  const TwoVersions scene(Reply(304, {{"ETag", "\"v1\""}, {"Cache-Control", "max-age=60"}}));
  EXPECT_EQ(scene.origin.requests().at(1).field("If-None-Match"), "\"v1\", \"v2\"");
  EXPECT_EQ(scene.answer.status, 200);
  EXPECT_EQ(scene.answer.body, "one");
}

TEST(Validation, PassesOnA304AboutTheClientsOwnResponse) {
  TwoVersions scene(Reply(304, {{"ETag", "\"v2\""}, {"Cache-Control", "max-age=60"}}));
  EXPECT_EQ(scene.answer.status, 304);
  EXPECT_EQ(scene.answer.field("ETag"), "\"v2\"");
  EXPECT_TRUE(contains(scene.answer.field("Cache-Status"), "fwd=stale; fwd-status=304"));
  EXPECT_FALSE(contains(scene.answer.field("Cache-Status"), "; stored"));
  // The stored response was not freshened.
  EXPECT_EQ(scene.client.get(scene.url).body, "fetched");
}

TEST(Validation, UsesNo304ThatNamesNeitherOfTwoValidators) {  // RFC 9111 section 4.3.4
  for (const auto& fields : {Fields{}, Fields{{"ETag", "\"v9\""}}}) {
    const TwoVersions scene(Reply(304, fields));
    EXPECT_EQ(scene.answer.status, 200);
    EXPECT_EQ(scene.answer.body, "fetched");
    EXPECT_EQ(scene.origin.count(), 3U);
    EXPECT_FALSE(scene.origin.requests().at(2).has("If-None-Match"));
  }
}

TEST(Validation, ServesNothingStaleThatMustBeRevalidated) {  // RFC 9111 section 5.2.2.2
  Scene scene;
  scene.origin.on("/a", cacheable("old", "max-age=0, must-revalidate").with("ETag", "\"v1\""));
  const std::string url = scene.origin.url("/a");
  scene.client.get(url);
  scene.origin.on("/a", Reply::hang_up());
  EXPECT_EQ(scene.client.get(url).status, 502);
}

}  // namespace
}  // namespace scenario
