#include "proxy/answer/miss.hpp"

#include <gtest/gtest.h>

#include "tests/peers/samples.hpp"
#include "tests/proxy/answer/answer_scene.hpp"

namespace proxy::answer {
namespace {

using namespace std::chrono_literals;
using support::Reply;

struct MissScene : AnswerScene {
  explicit MissScene(config::Settings told = open_settings())
      : AnswerScene(std::move(told), SceneTime::runs) {}
  ~MissScene() { io.end_coroutines(); }

  support::ScriptedOrigin origin;
  const std::string url = origin.url("/x");
};

struct FetchCase {
  const char* name;
  Reply reply;
  std::string lines;  // of the request
  unsigned status;
  std::string content;
  std::string cache_status;
  bool is_stored;
};
class AMiss : public testing::TestWithParam<FetchCase> {};

TEST_P(AMiss, IsFetchedAndStoredIfItMayBe) {
  const auto& c = GetParam();
  MissScene scene;
  scene.origin.on("/x", c.reply);
  const auto& got = scene.ask("GET " + scene.url, c.lines);
  EXPECT_EQ(got.status(), c.status);
  EXPECT_EQ(got.content(), c.content);
  EXPECT_EQ(scene.cache_status(), c.cache_status);
  EXPECT_EQ(scene.record.hierarchy, observe::Hierarchy::direct);
  EXPECT_EQ(scene.record.upstream_host, "127.0.0.1");
  // A client that has the response already does not wait for the rest of it.
  const auto is_stored = [&] { return scene.stored(scene.url) != nullptr; };
  if (c.is_stored) scene.run_until(is_stored);
  scene.settle();
  EXPECT_EQ(is_stored(), c.is_stored);
  EXPECT_EQ(scene.origin.count(), 1U);
}

Reply with(std::string control, std::string body = "body", int status = 200) {
  return Reply(status, {{"Cache-Control", std::move(control)}}).body(std::move(body));
}

INSTANTIATE_TEST_SUITE_P(
    Answers, AMiss,
    testing::Values(
        FetchCase{"Stored", with("max-age=100"), "", 200, "body",
                  "cache-a; fwd=uri-miss; fwd-status=200; ttl=100; stored", true},
        FetchCase{"NotFound", with("max-age=100", "no", 404), "", 404, "no",
                  "cache-a; fwd=uri-miss; fwd-status=404; ttl=100; stored", true},
        FetchCase{"NoStore", with("no-store"), "", 200, "body",
                  "cache-a; fwd=uri-miss; fwd-status=200; detail=\"not-stored/no-store\"", false},
        FetchCase{"Private", with("private"), "", 200, "body",
                  "cache-a; fwd=uri-miss; fwd-status=200; detail=\"not-stored/private\"", false},
        FetchCase{
            "TheClientForbidsIt", with("max-age=100"), "Cache-Control: no-store\r\n", 200, "body",
            "cache-a; fwd=uri-miss; fwd-status=200; detail=\"not-stored/request-no-store\"", false},
        FetchCase{"WithCredentials", with("max-age=100"), "Authorization: Basic x\r\n", 200, "body",
                  "cache-a; fwd=uri-miss; fwd-status=200; detail=\"not-stored/authorization\"",
                  false},
        FetchCase{"WithCredentialsButPublic", with("public, max-age=100"),
                  "Authorization: Basic x\r\n", 200, "body",
                  "cache-a; fwd=uri-miss; fwd-status=200; ttl=100; stored", true},
        FetchCase{"Reloaded", with("max-age=100"), "Cache-Control: no-cache\r\n", 200, "body",
                  "cache-a; fwd=uri-miss; fwd-status=200; ttl=100; stored", true},
        FetchCase{"TheClientHasIt",
                  Reply(200, {{"ETag", "\"v1\""}, {"Cache-Control", "max-age=100"}}).body("body"),
                  "If-None-Match: \"v1\"\r\n", 304, "",
                  "cache-a; fwd=uri-miss; fwd-status=200; ttl=100; stored", true}),
    [](const auto& tested) { return tested.param.name; });

struct StaleCase {
  const char* name;
  Reply reply;
  std::string stored;  // Cache-Control of the stored response
  unsigned status;
  std::string content;
  observe::Tag tag;
  std::string cache_status;
  std::string kept;  // the body that is stored afterwards; empty: none
};
class AStaleResponse : public testing::TestWithParam<StaleCase> {};

TEST_P(AStaleResponse, IsValidatedReplacedOrStandsIn) {
  const auto& c = GetParam();
  MissScene scene;
  scene.origin.on("/x", c.reply);
  const auto lines = "ETag: \"v1\"\r\nCache-Control: " + c.stored + "\r\n";
  scene.store_response({.url = scene.url, .lines = lines}, "old", 200s);
  const auto& got = scene.ask("GET " + scene.url);
  EXPECT_EQ(got.status(), c.status);
  EXPECT_EQ(got.content(), c.content);
  EXPECT_EQ(scene.record.tag, c.tag);
  EXPECT_EQ(scene.cache_status(), c.cache_status);
  EXPECT_EQ(scene.origin.requests("/x").at(0).field("If-None-Match"), "\"v1\"");
  scene.settle();
  const auto kept = scene.stored(scene.url);
  EXPECT_EQ(kept ? kept->body.size : 0, c.kept.size());
}

INSTANTIATE_TEST_SUITE_P(
    Answers, AStaleResponse,
    testing::Values(
        StaleCase{"Validated", Reply(304, {{"Cache-Control", "max-age=500"}}), "max-age=100", 200,
                  "old", observe::Tag::refresh_unmodified,
                  "cache-a; fwd=stale; fwd-status=304; ttl=500; stored", "old"},
        StaleCase{"Replaced", with("max-age=500", "newer"), "max-age=100", 200, "newer",
                  observe::Tag::refresh_modified,
                  "cache-a; fwd=stale; fwd-status=200; ttl=500; stored", "newer"},
        StaleCase{"ReplacedByWhatIsNotStored", with("no-store", "newer"), "max-age=100", 200,
                  "newer", observe::Tag::refresh_modified,
                  "cache-a; fwd=stale; fwd-status=200; detail=\"not-stored/no-store\"", ""},
        StaleCase{"StandsIn", Reply(503), "max-age=100, stale-if-error=900", 200, "old",
                  observe::Tag::stale_hit,
                  "cache-a; fwd=stale; fwd-status=503; ttl=-100; detail=\"stale-if-error/503\"",
                  "old"},
        StaleCase{"MayNotStandIn", Reply(503), "max-age=100, must-revalidate", 503, "",
                  observe::Tag::refresh_modified,
                  "cache-a; fwd=stale; fwd-status=503; detail=\"not-stored/status\"", "old"}),
    [](const auto& tested) { return tested.param.name; });

TEST(AMiss, IsCutWhereTheOriginCutsItAndNotStored) {
  MissScene scene;
  scene.origin.on("/x", Reply(200, {{"Cache-Control", "max-age=9"}}).sized(10).send("half").cut());
  scene.ask("GET " + scene.url);
  EXPECT_EQ(scene.response.content(), "half");
  EXPECT_TRUE(scene.response.aborted());
  EXPECT_EQ(scene.record.storability, cache::Storability::incomplete);
  EXPECT_EQ(scene.stored(scene.url), nullptr);
}

TEST(AMiss, ThatNobodyAnswersIsRefused) {
  for (const auto& [reply, word] :
       {std::pair{Reply::hang_up(), "cut"}, std::pair{Reply::raw("no\r\n\r\n"), "malformed"}}) {
    MissScene scene;
    scene.origin.on("/x", reply);
    EXPECT_EQ(scene.ask("GET " + scene.url).status(), 502U) << word;
    EXPECT_EQ(scene.record.failure, word);
    EXPECT_EQ(scene.record.tag, observe::Tag::failed) << word;
    EXPECT_EQ(scene.cache_status(), std::string("cache-a; fwd=uri-miss; detail=\"") + word + '"');
  }
}

// What happens to a second request while the first one waits for the origin.
struct SecondCase {
  const char* name;
  std::string first;  // fields of the requests
  std::string second;
  Reply reply;
  std::size_t fetches;
  bool is_collapsed;  // the second
};
class ASecondRequest : public testing::TestWithParam<SecondCase> {};

TEST_P(ASecondRequest, SharesTheFetchIfItMayHaveTheAnswer) {
  const auto& c = GetParam();
  MissScene scene;
  support::Gate gate;
  auto reply = c.reply;
  scene.origin.on("/x", reply.wait(gate));
  const auto first = scene.begin("GET " + scene.url, c.first);
  ASSERT_TRUE(scene.run_until([&] { return scene.origin.count("/x") == 1; }));
  const auto second = scene.begin("GET " + scene.url, c.second);
  gate.open();
  ASSERT_TRUE(scene.run_until([&] { return first->done && second->done; }));
  EXPECT_FALSE(first->record.collapsed);
  EXPECT_EQ(second->record.collapsed, c.is_collapsed);
  EXPECT_EQ(second->response.status(), 200U);
  EXPECT_EQ(second->response.content(), "");
  EXPECT_TRUE(second->state.finished);
  EXPECT_EQ(scene.origin.count(), c.fetches);
  EXPECT_EQ(scene.counters.collapsed.get(), c.is_collapsed ? 1U : 0U);
  const auto told = second->response.field("Cache-Status");
  EXPECT_EQ(told.find("collapsed") != std::string::npos, c.is_collapsed) << told;
}

Reply empty(const std::string& control, support::Fields fields = {}) {
  fields.emplace_back("Cache-Control", control);
  return Reply(200, fields);
}

INSTANTIATE_TEST_SUITE_P(
    Requests, ASecondRequest,
    testing::Values(SecondCase{"OfTheSame", "", "", empty("max-age=100"), 1, true},
                    SecondCase{"ForWhatIsNotStored", "", "", empty("private"), 2, false},
                    SecondCase{"ForAnotherVariant", "Accept-Language: de\r\n",
                               "Accept-Language: en\r\n",
                               empty("max-age=100", {{"Vary", "Accept-Language"}}), 2, false},
                    SecondCase{"ForTheSameVariant", "Accept-Language: de\r\n",
                               "Accept-Language: de\r\n",
                               empty("max-age=100", {{"Vary", "Accept-Language"}}), 1, true},
                    SecondCase{"WithCredentials", "", "Authorization: Basic x\r\n",
                               empty("max-age=100"), 2, false},
                    SecondCase{"AfterOneWithCredentials", "Authorization: Basic x\r\n", "",
                               empty("max-age=100"), 2, false}),
    [](const auto& tested) { return tested.param.name; });

TEST(AMiss, PassesInterimAnswersToItsFirstAskerAlone) {
  MissScene scene;
  support::Gate gate;
  scene.origin.on("/x", empty("max-age=100").interim("HTTP/1.1 103 Early Hints", {}).wait(gate));
  const auto first = scene.begin("GET " + scene.url);
  ASSERT_TRUE(scene.run_until([&] { return !first->response.interims().empty(); }));
  const auto second = scene.begin("GET " + scene.url);
  gate.open();
  ASSERT_TRUE(scene.run_until([&] { return first->done && second->done; }));
  EXPECT_EQ(first->response.interims().size(), 1U);
  EXPECT_TRUE(second->response.interims().empty());
}

TEST(AMiss, WhoseClientLeavesIsStillStored) {
  MissScene scene;
  scene.origin.on("/x", with("max-age=100", std::string(1000, 'b')));
  scene.response.client_leaves_after(0);
  scene.ask("GET " + scene.url);
  EXPECT_TRUE(scene.response.aborted());
  EXPECT_TRUE(scene.run_until([&] { return scene.stored(scene.url) != nullptr; }));
}

TEST(AMiss, AfterOneThatWasForOneClientIsAskedForWithoutAFill) {
  MissScene scene;
  scene.origin.on("/x", with("private"));
  EXPECT_EQ(scene.ask("GET " + scene.url).content(), "body");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(scene.ask("GET " + scene.url).content(), "body");
    EXPECT_EQ(scene.cache_status(),
              "cache-a; fwd=uri-miss; fwd-status=200; detail=\"not-stored/private\"");
    EXPECT_TRUE(scene.state.finished);
  }
  EXPECT_EQ(scene.origin.count(), 4U);
  EXPECT_EQ(scene.origin.connections(), 1U);
}

TEST(AMiss, ThatWasForOneClientIsStoredOnceItMayBe) {
  MissScene scene;
  scene.origin.on("/x", with("private"));
  scene.ask("GET " + scene.url);
  scene.origin.on("/x", with("max-age=100"));
  EXPECT_EQ(scene.ask("GET " + scene.url).content(), "body");
  scene.settle();
  EXPECT_NE(scene.stored(scene.url), nullptr);
}

struct DuplicateCase {
  config::Duplicates setting;
  std::size_t bytes;
  // How requests are answered: `d` by a duplicate that is left with the neighbour, `s` by a
  // response that is stored, `h` by a hit.
  std::string answers;
};

// Time stands, so the neighbour on loopback stays near however busy the machine is.
TEST(Miss, LeavesADuplicateWithANearNeighbourAsOftenAsTheSettingSays) {
  constexpr std::size_t kLarge = (1 << 20) + 1;
  using config::Duplicates;
  for (const auto& [setting, bytes, expected] :
       {DuplicateCase{Duplicates::second, 10, "dshh"},
        DuplicateCase{Duplicates::second, kLarge, "ddsh"},
        DuplicateCase{Duplicates::never, kLarge, "dddd"},
        DuplicateCase{Duplicates::always, kLarge, "shhh"}}) {
    support::ScriptedOrigin neighbour;
    neighbour.on("/x", with("max-age=100", std::string(bytes, 'p'))
                           .with(std::string(peers::kEpochField), peers::to_text(0xab)));
    auto settings = open_settings();
    settings.digest.prefer = config::Prefer::neighbours;
    settings.digest.duplicates = setting;
    settings.peers = {peers::samples::peer("b", neighbour.port())};
    AnswerScene scene(std::move(settings));
    auto report = peers::samples::report_of({"x"}, scene.clock.steady());
    report.identity.learn_epoch_of_digest(0xab);
    scene.policy->directory->update(0, std::move(report));
    tiers::Placement placement(scene.budget);
    scene.tiers.placement = &placement;
    std::string answers;
    while (answers.size() < expected.size()) {
      EXPECT_EQ(scene.ask("GET http://origin.test/x").content().size(), bytes);
      const auto told = scene.cache_status();
      const bool left = told.find("peer/b not-stored/duplicate") != std::string::npos;
      answers += left ? 'd' : told.find("; hit") != std::string::npos ? 'h' : 's';
      scene.settle();
    }
    EXPECT_EQ(answers, expected);
  }
}

}  // namespace
}  // namespace proxy::answer
