// Decisions by RFC 9111 that only the whole program shows.
#include <gtest/gtest.h>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

TEST(SetCookie, IsNotReplayedToOthersUnlessItsOriginSaysSo) {
  const struct {
    const char* control;
    bool stored;
  } cases[] = {{"max-age=60", false},
               {"max-age=60, must-revalidate", false},
               {"public, max-age=60", true},
               {"s-maxage=60", true}};
  for (const auto& c : cases) {
    Scene scene;
    scene.origin.on("/a", Reply(200, {{"Set-Cookie", "a=b"}, {"Cache-Control", c.control}}));
    const Response first = scene.client.get(scene.origin.url("/a"));
    EXPECT_EQ(first.field("Set-Cookie"), "a=b");
    const auto told = first.field("Cache-Status");
    EXPECT_EQ(contains(told, "not-stored/set-cookie"), !c.stored) << told;
    EXPECT_EQ(is_hit(scene.client.get(scene.origin.url("/a"))), c.stored) << c.control;
  }
}

TEST(SetCookie, IsStoredWhereARuleSaysSo) {
  Scene scene(json{{"rules", {{{"name", "shop"}, {"host", "*"}, {"store_cookies", true}}}}});
  scene.origin.on("/a", Reply(200, {{"Set-Cookie", "a=b"}, {"Cache-Control", "max-age=60"}}));
  scene.client.get(scene.origin.url("/a"));
  EXPECT_TRUE(is_hit(scene.client.get(scene.origin.url("/a"))));
}

TEST(Rules, FieldsNamedByPrivateAndNoCacheGoToTheAskerAlone) {  // RFC 9111 5.2.2.4, 5.2.2.7
  Scene scene;
  scene.origin.on("/a",
                  Reply(200, {{"Set-Cookie", "a=b"}, {"X-A", "1"}, {"X-B", "2"}})
                      .with("Cache-Control", "max-age=60, private=\"set-cookie\", no-cache=\"x-a\"")
                      .body("hello"));
  const std::string url = scene.origin.url("/a");
  const Response asked = scene.client.get(url);
  EXPECT_EQ(asked.field("Set-Cookie"), "a=b");
  EXPECT_EQ(asked.field("X-A"), "1");
  const Response hit = scene.client.get(url);
  EXPECT_TRUE(is_hit(hit));
  EXPECT_EQ(hit.body, "hello");
  EXPECT_FALSE(hit.has("Set-Cookie"));
  EXPECT_FALSE(hit.has("X-A"));
  EXPECT_EQ(hit.field("X-B"), "2");
}

TEST(Rules, OurTargetedFieldReplacesCacheControl) {  // RFC 9213
  Scene scene;
  scene.origin.on("/ours", Reply(200, {{"Cache-Control", "no-store"},
                                       {"Hearsay-Cache-Control", "max-age=60"}}));
  scene.origin.on("/cdn",
                  Reply(200, {{"Cache-Control", "no-store"}, {"CDN-Cache-Control", "max-age=60"}}));
  scene.client.get(scene.origin.url("/ours"));
  EXPECT_TRUE(is_hit(scene.client.get(scene.origin.url("/ours"))));
  scene.client.get(scene.origin.url("/cdn"));
  EXPECT_FALSE(is_hit(scene.client.get(scene.origin.url("/cdn"))));

  Scene told(json::parse(R"({"cache": {"targeted": ["CDN-Cache-Control"]}})"));
  told.origin.on("/cdn", Reply(200, {{"CDN-Cache-Control", "max-age=60"}}));
  told.client.get(told.origin.url("/cdn"));
  EXPECT_TRUE(is_hit(told.client.get(told.origin.url("/cdn"))));
}

TEST(Rules, AnAnswerToPostMayBeKeptAsThatToGet) {  // RFC 9110 9.3.3
  Scene scene;
  const std::string body = numbered_bytes(100'000);
  scene.origin.on(
      "/a", Reply(200, {{"Content-Location", "/a"}, {"Cache-Control", "max-age=60"}}).body(body));
  const std::string url = scene.origin.url("/a");
  EXPECT_EQ(scene.client.request("POST", url, {}, "x").body, body);
  const Response hit = scene.client.get(url);
  EXPECT_TRUE(is_hit(hit));
  EXPECT_EQ(hit.body, body);
  EXPECT_FALSE(is_hit(scene.client.request("POST", url, {}, "x")));
  EXPECT_EQ(scene.origin.count(), 2U);
}

// The response to GET after HEAD: stale from the start, until HEAD made it fresh for a minute with
// these fields.
Response after_head(const Fields& answer) {
  Scene scene;
  scene.origin.on("/a", [&](const Request& request) {
    if (request.method != "HEAD") {
      return Reply(200, {{"Cache-Control", "max-age=0"}, {"ETag", "\"1\""}, {"X-A", "1"}})
          .body("hello");
    }
    return Reply(200, answer).with("Cache-Control", "max-age=60").with("X-A", "2").sized(5);
  });
  const std::string url = scene.origin.url("/a");
  scene.client.get(url);
  scene.client.request("HEAD", url);
  return scene.client.get(url);
}

TEST(Rules, AnAnswerToHeadUpdatesWhatIsStored) {  // RFC 9111 4.3.5
  const Response response = after_head({{"ETag", "\"1\""}});
  EXPECT_TRUE(is_hit(response));
  EXPECT_EQ(response.body, "hello");
  EXPECT_EQ(response.field("X-A"), "2");
}

TEST(Rules, AnAnswerToHeadThatDiffersInvalidates) {
  EXPECT_TRUE(contains(after_head({{"ETag", "\"2\""}}).field("Cache-Status"), "fwd=uri-miss"));
}

}  // namespace
}  // namespace scenario
