#include "proxy/answer/pass.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/answer/answer_scene.hpp"

namespace proxy::answer {
namespace {

using namespace std::chrono_literals;
using support::Reply;

const std::string kTagged = "ETag: \"v1\"\r\nCache-Control: max-age=100\r\n";

struct PassScene : AnswerScene {
  explicit PassScene(config::Settings told = open_settings())
      : AnswerScene(std::move(told), SceneTime::runs) {}
  ~PassScene() { io.end_coroutines(); }

  support::ScriptedOrigin origin;
  const std::string url = origin.url("/x");
};

struct UnsafeCase {
  const char* name;
  std::string method;
  int status;
  support::Fields fields;
  bool stays;        // what is stored of the URL itself
  bool other_stays;  // of another URL of the origin
};
class AnUnsafeMethod : public testing::TestWithParam<UnsafeCase> {};

TEST_P(AnUnsafeMethod, InvalidatesWhatItMayHaveChanged_Rfc9111_4_4) {
  const auto& c = GetParam();
  PassScene scene;
  scene.origin.on("/x", Reply(c.status, c.fields));
  const auto other = scene.origin.url("/other");
  for (const auto& url : {scene.url, other})
    scene.store_response({.url = url, .lines = kTagged}, "old");
  const auto& got = scene.ask(c.method + " " + scene.url, "Content-Length: 0\r\n");
  EXPECT_EQ(got.status(), static_cast<unsigned>(c.status));
  EXPECT_EQ(scene.stored(scene.url) != nullptr, c.stays);
  EXPECT_EQ(scene.stored(other) != nullptr, c.other_stays);
  EXPECT_EQ(scene.origin.count("/x"), 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Answers, AnUnsafeMethod,
    testing::Values(
        UnsafeCase{"Post", "POST", 200, {}, false, true},
        UnsafeCase{"Put", "PUT", 204, {}, false, true},
        UnsafeCase{"Delete", "DELETE", 200, {}, false, true},
        UnsafeCase{"Patch", "PATCH", 200, {}, false, true},
        UnsafeCase{"Unknown", "FROB", 200, {}, false, true},
        UnsafeCase{"SeeOther", "POST", 303, {{"Location", "/other"}}, false, false},
        UnsafeCase{"Created", "POST", 201, {{"Location", "/other"}}, false, false},
        UnsafeCase{
            "WithContentLocation", "PUT", 200, {{"Content-Location", "/other"}}, false, false},
        UnsafeCase{
            "NotForAnotherHost", "PUT", 200, {{"Location", "http://b.test/other"}}, false, true},
        UnsafeCase{"Refused", "POST", 403, {}, true, true},
        UnsafeCase{"Missing", "DELETE", 404, {}, true, true},
        UnsafeCase{"Failed", "PUT", 500, {{"Location", "/other"}}, true, true},
        UnsafeCase{"OptionsIsSafe", "OPTIONS", 200, {}, true, true}),
    [](const auto& tested) { return tested.param.name; });

struct HeadCase {
  const char* name;
  int status;
  support::Fields fields;
  const char* lines;  // of the request
  bool stays;
  std::chrono::seconds ttl;  // of what is stored afterwards
};
class TheAnswerToHead : public testing::TestWithParam<HeadCase> {};

// A body of three bytes is stored, and stale.
TEST_P(TheAnswerToHead, UpdatesOrDropsWhatIsStored_Rfc9111_4_3_5) {
  const auto& c = GetParam();
  PassScene scene;
  scene.origin.on("/x", Reply(c.status, c.fields));
  scene.store_response({.url = scene.url, .lines = kTagged}, "old", 200s);
  const auto& got = scene.ask("HEAD " + scene.url, c.lines);
  EXPECT_EQ(got.status(), static_cast<unsigned>(c.status));
  EXPECT_EQ(got.content(), "");
  const auto stored = scene.stored(scene.url);
  ASSERT_EQ(stored != nullptr, c.stays);
  if (!stored) return;
  const auto ttl = stored->ttl(scene.clock.now());
  EXPECT_LE(ttl, c.ttl);
  EXPECT_GE(ttl, c.ttl - 5s);
}

INSTANTIATE_TEST_SUITE_P(
    Answers, TheAnswerToHead,
    testing::Values(
        HeadCase{"Same",
                 200,
                 {{"ETag", "\"v1\""}, {"Content-Length", "3"}, {"Cache-Control", "max-age=500"}},
                 "",
                 true,
                 500s},
        HeadCase{"AnotherTag", 200, {{"ETag", "\"v2\""}, {"Content-Length", "3"}}, "", false, 0s},
        HeadCase{
            "AnotherLength", 200, {{"ETag", "\"v1\""}, {"Content-Length", "4"}}, "", false, 0s},
        HeadCase{"MayNotBeStoredAnyMore",
                 200,
                 {{"ETag", "\"v1\""}, {"Content-Length", "3"}, {"Cache-Control", "no-store"}},
                 "",
                 false,
                 0s},
        HeadCase{"AnError", 500, {}, "", true, -100s},
        HeadCase{"Reloaded",
                 200,
                 {{"ETag", "\"v1\""}, {"Content-Length", "3"}, {"Cache-Control", "max-age=500"}},
                 "Cache-Control: no-cache\r\n",
                 true,
                 500s}),
    [](const auto& tested) { return tested.param.name; });

struct CaptureCase {
  const char* name;
  support::Fields fields;
  std::string method;
  bool is_stored;  // as the answer to GET
};
class TheAnswerToPost : public testing::TestWithParam<CaptureCase> {};

TEST_P(TheAnswerToPost, IsStoredForGetIfItSaysSo_Rfc9110_9_3_3) {
  const auto& c = GetParam();
  PassScene scene;
  auto fields = c.fields;
  for (auto& [name, value] : fields)
    if (value == "URL") value = scene.url;
  scene.origin.on("/x", Reply(200, fields).body("result"));
  EXPECT_EQ(scene.ask(c.method + " " + scene.url, "", "question").content(), "result");
  EXPECT_EQ(scene.cache_status().find("; stored") != std::string::npos, c.is_stored)
      << scene.cache_status();
  EXPECT_EQ(scene.record.storability == cache::Storability::yes, c.is_stored);
  EXPECT_EQ(scene.stored(scene.url) != nullptr, c.is_stored);
  if (c.is_stored) {
    EXPECT_EQ(scene.ask("GET " + scene.url).content(), "result");
  }
  EXPECT_EQ(scene.origin.requests("/x").at(0).body, "question");
  EXPECT_EQ(scene.origin.count(), 1U);
}

const support::Field kFresh{"Cache-Control", "max-age=100"};

INSTANTIATE_TEST_SUITE_P(
    Answers, TheAnswerToPost,
    testing::Values(
        CaptureCase{"Stored", {kFresh, {"Content-Location", "URL"}}, "POST", true},
        CaptureCase{"Relative", {kFresh, {"Content-Location", "/x"}}, "POST", true},
        CaptureCase{"OfAnotherUrl", {kFresh, {"Content-Location", "/y"}}, "POST", false},
        CaptureCase{"WithoutLocation", {kFresh}, "POST", false},
        CaptureCase{"WithoutLifetime", {{"Content-Location", "URL"}}, "POST", false},
        CaptureCase{"Private",
                    {{"Cache-Control", "private, max-age=9"}, {"Content-Location", "URL"}},
                    "POST",
                    false},
        CaptureCase{"Put", {kFresh, {"Content-Location", "URL"}}, "PUT", false}),
    [](const auto& tested) { return tested.param.name; });

TEST(TheAnswerToPost, IsNotStoredIfItIsCut) {
  PassScene scene;
  scene.origin.on(
      "/x", Reply(200, {kFresh, {"Content-Location", scene.url}}).sized(10).send("half").cut());
  scene.ask("POST " + scene.url, "", "q");
  EXPECT_TRUE(scene.response.aborted());
  EXPECT_FALSE(scene.state.finished);
  EXPECT_EQ(scene.stored(scene.url), nullptr);
  EXPECT_EQ(scene.record.storability, cache::Storability::incomplete);
}

struct FailureCase {
  const char* name;
  Reply reply;
  unsigned status;
  std::string cache_status;
};

TEST(Pass, TellsHowTheOriginFailed) {
  for (const FailureCase& c :
       {FailureCase{"hangs up", Reply::hang_up(), 502, "cache-a; fwd=method; detail=\"cut\""},
        FailureCase{"no HTTP", Reply::raw("what?\r\n\r\n"), 502,
                    "cache-a; fwd=method; detail=\"malformed\""}}) {
    PassScene scene;
    scene.origin.on("/x", c.reply);
    EXPECT_EQ(scene.ask("POST " + scene.url, "", "q").status(), c.status) << c.name;
    EXPECT_EQ(scene.cache_status(), c.cache_status) << c.name;
    EXPECT_EQ(scene.record.tag, observe::Tag::failed) << c.name;
    EXPECT_EQ(scene.record.upstream_host, "127.0.0.1") << c.name;
  }
}

TEST(Pass, CutsItsAnswerWhereTheOriginCutsItsOwn) {
  PassScene scene;
  scene.origin.on("/x", Reply(200).sized(10).send("half").cut());
  scene.ask("POST " + scene.url, "", "q");
  EXPECT_EQ(scene.response.status(), 200U);
  EXPECT_EQ(scene.response.content(), "half");
  EXPECT_TRUE(scene.response.aborted());
}

TEST(Pass, SendsInterimAnswersOn) {
  PassScene scene;
  scene.origin.on("/x", Reply(200).interim("HTTP/1.1 103 Early Hints", {{"Link", "</a>"}}));
  scene.ask("POST " + scene.url, "", "q");
  ASSERT_FALSE(scene.response.interims().empty());
  EXPECT_TRUE(scene.response.interims().back().starts_with("HTTP/1.1 103 "));
  EXPECT_NE(scene.response.interims().back().find("Link: </a>\r\n"), std::string::npos);
}

TEST(Pass, ClosesAfterAnAnswerThatCameBeforeTheBodyWasSent) {
  PassScene scene;
  scene.origin.on_head("/x", Reply(413));
  scene.ask("POST " + scene.url, "Expect: 100-continue\r\n", "question");
  EXPECT_EQ(scene.response.status(), 413U);
  EXPECT_TRUE(scene.response.closes());
}

TEST(Pass, TellsTheOriginWhoWeAreAndNothingThatIsForUs) {
  PassScene scene;
  scene.ask("POST " + scene.url,
            "Proxy-Authorization: Basic x\r\nConnection: X-Hop\r\nX-Hop: 1\r\nX-End: 2\r\n", "q");
  const auto asked = scene.origin.requests("/x").at(0);
  EXPECT_EQ(asked.field("Via"), "1.1 cache-a");
  EXPECT_EQ(asked.field("X-End"), "2");
  EXPECT_FALSE(asked.has("X-Hop"));
  EXPECT_FALSE(asked.has("Proxy-Authorization"));
}

// A request that only the origin can answer, for a response that is stored and stale.
struct StandInCase {
  const char* name;
  std::string lines;  // of the stored response
  Reply reply;
  unsigned status;
  std::string content;
};

TEST(Pass, LetsAStaleResponseStandInForAnOriginThatFails_Rfc5861_4) {
  const std::string stale_if_error = "Cache-Control: max-age=100, stale-if-error=900\r\n";
  for (const StandInCase& c :
       {StandInCase{"error", stale_if_error, Reply(503), 200, "old"},
        StandInCase{"an answer", stale_if_error, Reply(404), 404, ""},
        StandInCase{"not allowed", kTagged, Reply(503), 503, ""},
        StandInCase{"forbidden", "Cache-Control: max-age=100, must-revalidate\r\n", Reply(503), 503,
                    ""}}) {
    PassScene scene;
    scene.origin.on("/x", c.reply);
    scene.store_response({.url = scene.url, .lines = c.lines}, "old", 200s);
    EXPECT_EQ(scene.ask("GET " + scene.url).status(), c.status) << c.name;
    EXPECT_EQ(scene.response.content(), c.content) << c.name;
  }
}

}  // namespace
}  // namespace proxy::answer
