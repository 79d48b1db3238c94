#include <gtest/gtest.h>

#include "tests/peers/samples.hpp"
#include "tests/proxy/answer/answer_scene.hpp"

namespace proxy::answer {
namespace {

using namespace std::chrono_literals;

const std::string kAskedFor = "http://origin.test/x";
const std::string kAsked = "Cache-Control: only-if-cached\r\n";
constexpr peers::Epoch kB = 0xb, kC = 0xc;

std::string fetching_as(peers::Epoch epoch) {
  return kAsked + std::string(peers::kFetchField) + ": " + peers::to_text(epoch) + "\r\n";
}

// The neighbours b and c are at 10.9.9.9 and 10.9.9.10, and both have been polled.
struct SiteScene : AnswerScene {
  SiteScene() : AnswerScene(neighbours()) {
    for (std::size_t id = 0; id < 2; ++id) {
      auto report = peers::samples::report_of({}, clock.steady());
      auto digest = peers::samples::native_of({});
      digest.epoch = id == 0 ? kB : kC;
      report.claims = peers::Claims(std::move(digest));
      policy->directory->update(id, std::move(report));
    }
  }
  static config::Settings neighbours() {
    auto settings = open_settings();
    settings.peers = {peers::samples::peer("b"), peers::samples::peer("c", 3129)};
    settings.peers[0].host = "10.9.9.9";
    settings.peers[1].host = "10.9.9.10";
    return settings;
  }
  const client::CollectedResponse& ask_as(const char* address, const std::string& lines) {
    client.address = *config::parse_address(address);
    return ask("GET " + kAskedFor, lines);
  }
};

TEST(SiteQuestion, LeavesTheFetchToTheFirstMemberThatAsks) {
  SiteScene scene;
  EXPECT_EQ(scene.ask_as("10.9.9.9", fetching_as(kB)).status(), 504U);
  EXPECT_EQ(scene.cache_status(), "cache-a; fwd=uri-miss") << "b may fetch";
  scene.ask_as("10.9.9.10", fetching_as(kC));
  EXPECT_EQ(scene.cache_status(),
            "cache-a; fwd=uri-miss; detail=\"fetched-by/" + peers::to_text(kB) + "\"");
  scene.ask_as("10.9.9.9", fetching_as(kB));
  EXPECT_EQ(scene.cache_status(), "cache-a; fwd=uri-miss") << "b itself";
  EXPECT_EQ(scene.record.tag, observe::Tag::site_question);
  EXPECT_TRUE(scene.record.question);
}

TEST(SiteQuestion, OfOneThatHasGivenTheFetcherUpMakesItTheFetcher) {
  SiteScene scene;
  scene.ask_as("10.9.9.9", fetching_as(kB));
  const auto field = std::string(peers::kFetchField) + ": ";
  const auto without_b = kAsked + field + peers::to_text(peers::SiteQuestion{kC, {kB}}) + "\r\n";
  scene.ask_as("10.9.9.10", without_b);
  EXPECT_EQ(scene.cache_status(), "cache-a; fwd=uri-miss") << "c may fetch";
  scene.ask_as("10.9.9.9", fetching_as(kB));
  EXPECT_EQ(scene.cache_status(),
            "cache-a; fwd=uri-miss; detail=\"fetched-by/" + peers::to_text(kC) + "\"");
}

TEST(SiteQuestion, NamesNoFetcherThatHasLeftTheSite) {
  SiteScene scene;
  scene.ask_as("10.9.9.9", fetching_as(kB));
  scene.policy->directory->record(scene.policy->directory->peers()[0],
                                  {peers::ClaimOutcome::broken}, scene.clock.steady());
  scene.ask_as("10.9.9.10", fetching_as(kC));
  EXPECT_EQ(scene.cache_status(), "cache-a; fwd=uri-miss") << "c may fetch";
}

TEST(SiteQuestion, OfNoMemberNamesNoFetcher) {
  SiteScene scene;
  scene.ask_as("10.9.9.9", fetching_as(0xd));
  EXPECT_EQ(scene.cache_status(), "cache-a; fwd=uri-miss") << "no neighbour has this epoch";
  scene.ask_as("10.1.1.1", fetching_as(kC));
  EXPECT_EQ(scene.cache_status(), "cache-a; fwd=uri-miss") << "a client";
  scene.ask_as("10.9.9.9", fetching_as(kB));
  EXPECT_EQ(scene.cache_status(), "cache-a; fwd=uri-miss") << "b is the first member to ask";
}

TEST(SiteQuestion, IsAnsweredByWhatIsStored) {
  SiteScene scene;
  scene.store_response({.url = kAskedFor}, "held");
  EXPECT_EQ(scene.ask_as("10.9.9.9", fetching_as(kB)).content(), "held");
  EXPECT_EQ(scene.cache_status(), "cache-a; hit; ttl=100");
}

// Its copy of the same response has just grown stale: ages are told in whole seconds.
TEST(SiteQuestion, OfOneThatNeedsANewerCopyMakesItTheFetcher) {
  SiteScene scene;
  const std::string newer = "Cache-Control: min-fresh=2\r\n";
  scene.store_response({.url = kAskedFor, .lines = "Cache-Control: max-age=5\r\n"}, "held", 3s);
  EXPECT_EQ(scene.ask_as("10.9.9.9", fetching_as(kB) + newer).content(), "held");
  scene.clock.pass(1500ms);
  EXPECT_EQ(scene.ask_as("10.9.9.9", fetching_as(kB)).content(), "held") << "it has 500 ms left";
  EXPECT_EQ(scene.ask_as("10.9.9.9", fetching_as(kB) + newer).status(), 504U);
  scene.ask_as("10.9.9.10", fetching_as(kC) + newer);
  EXPECT_EQ(scene.cache_status(),
            "cache-a; fwd=request; detail=\"fetched-by/" + peers::to_text(kB) + "\"");
}

TEST(SiteQuestion, IsAnsweredFromTheFetchUnderWayAndToldToWait) {
  support::ScriptedOrigin origin;
  support::Gate gate;
  origin.on(
      "/x",
      support::Reply(200, {{"Cache-Control", "max-age=9"}}).sized(7).wait(gate).send("fetched"));
  AnswerScene scene(open_settings(), SceneTime::runs);
  const auto own = scene.begin("GET " + origin.url("/x"));
  ASSERT_TRUE(scene.run_until([&] { return origin.count("/x") == 1; }));
  const auto asked = scene.begin("GET " + origin.url("/x"), fetching_as(kB));
  EXPECT_FALSE(asked->done);
  ASSERT_EQ(asked->response.interims().size(), 1U);
  ASSERT_TRUE(scene.run_until([&] { return asked->response.interims().size() == 3; }))
      << "again and again";
  for (const auto& interim : asked->response.interims())
    EXPECT_EQ(interim, "HTTP/1.1 102 Processing\r\nHearsay-Fetch: ?1\r\n\r\n");
  gate.open();
  ASSERT_TRUE(scene.run_until([&] { return own->done && asked->done; }));
  EXPECT_EQ(own->response.content(), "fetched");
  EXPECT_EQ(asked->response.content(), "fetched");
  EXPECT_TRUE(asked->record.collapsed);
  EXPECT_EQ(origin.count(), 1U);
}

// Two members that wait for each other would both wait in vain.
TEST(SiteQuestion, OfTheMemberThatTheFetchWaitsForIsNotKeptWaiting) {
  SiteScene scene;
  const auto key = digest::key_of(digest::Method::get, kAskedFor);
  const fill::FillPlace place{scene.io.get_executor(), &scene.clock};
  const auto fill = scene.fills.enter(key, kAskedFor, place, scene.clock.steady()).fill;
  fill->awaited_member = kB;
  EXPECT_EQ(scene.ask_as("10.9.9.9", fetching_as(kB)).status(), 504U);
  EXPECT_EQ(scene.cache_status(), "cache-a; fwd=uri-miss") << "b may fetch";
  EXPECT_TRUE(scene.response.interims().empty());
  scene.fills.leave(key, *fill);
}

// Each was asked before it knew that the other one waits.
TEST(SiteQuestion, OfTwoMembersThatWaitForEachOtherIsRefusedByTheOneOfTheLesserEpoch) {
  AnswerScene scene(open_settings(), SceneTime::runs);
  const std::string url = "http://127.0.0.1:9/x";
  const auto key = digest::key_of(digest::Method::get, url);
  const fill::FillPlace place{scene.io.get_executor(), &scene.clock};
  const auto fill = scene.fills.enter(key, url, place, scene.clock.steady()).fill;
  const auto ours = scene.publisher.current()->epoch;
  const auto asked_by = [&](peers::Epoch asker) {
    fill->awaited_member = 0;
    auto asked = scene.begin("GET " + url, fetching_as(asker));
    EXPECT_FALSE(asked->done);
    fill->awaited_member = asker;
    return asked;
  };
  const auto lesser = asked_by(ours - 1);
  ASSERT_TRUE(scene.run_until([&] { return lesser->response.interims().size() == 3; }));
  EXPECT_FALSE(lesser->done) << "it refuses us";
  const auto greater = asked_by(ours + 1);
  EXPECT_TRUE(scene.run_until([&] { return greater->done; }));
  EXPECT_EQ(greater->response.status(), 504U);
  fill->fail({upstream::Failure::Where::us, upstream::Failure::What::abandoned, {}});
  EXPECT_TRUE(scene.run_until([&] { return lesser->done; }));
  scene.fills.leave(key, *fill);
}

TEST(SiteQuestion, ThatFindsAFetchShowsThatTheSitesQuestionsArePaying) {
  support::ScriptedOrigin origin;
  support::Gate gate;
  origin.on("/x", support::Reply(200, {{"Cache-Control", "max-age=9"}}).wait(gate));
  auto settings = open_settings();
  settings.peers = {peers::samples::peer("b")};
  settings.peers[0].host = "127.0.0.1";
  AnswerScene scene(std::move(settings), SceneTime::runs);
  const auto own = scene.begin("GET " + origin.url("/x"));
  ASSERT_TRUE(scene.run_until([&] { return origin.count("/x") == 1; }));
  const upstream::Endpoint at{.host = "127.0.0.1", .port = origin.port()};
  const auto luck = [&] { return scene.sources.origin_times.luck_of(at, scene.clock.steady()); };
  EXPECT_EQ(luck().share(), sources::SiteLuck().share());
  const auto asked = scene.begin("GET " + origin.url("/x"), fetching_as(kB));
  EXPECT_GT(luck().share(), sources::SiteLuck().share());
  gate.open();
  ASSERT_TRUE(scene.run_until([&] { return own->done && asked->done; }));
}

TEST(SiteQuestion, AboutWhatWasLatelyUnsharedIsNeitherKeptWaitingNorSentOn) {
  SiteScene scene;
  scene.fills.record_unshared(digest::key_of(digest::Method::get, kAskedFor), scene.clock.steady());
  for (const auto& [address, epoch] : {std::pair("10.9.9.9", kB), std::pair("10.9.9.10", kC)}) {
    EXPECT_EQ(scene.ask_as(address, fetching_as(epoch)).status(), 504U);
    EXPECT_EQ(scene.cache_status(), "cache-a; fwd=uri-miss") << "b is not named";
  }
}

TEST(SiteQuestion, AboutAnUnsharedPathIsNeitherKeptWaitingNorSentOn) {
  SiteScene scene;
  for (int i = 0; i < 3; ++i)
    scene.unshared_paths.record(kAskedFor, fill::UnsharedPaths::Answer::unshared,
                                scene.clock.steady());
  for (const auto& [address, epoch] : {std::pair("10.9.9.9", kB), std::pair("10.9.9.10", kC)}) {
    EXPECT_EQ(scene.ask_as(address, fetching_as(epoch)).status(), 504U);
    EXPECT_EQ(scene.cache_status(), "cache-a; fwd=uri-miss") << "b is not named";
  }
}

}  // namespace
}  // namespace proxy::answer
