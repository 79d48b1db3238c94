// What an explanation says of each neighbour: what the plan of choice would make of it.
#include <gtest/gtest.h>

#include "proxy/explain/explain.hpp"
#include "proxy/sources/origin.hpp"
#include "tests/peers/samples.hpp"
#include "tests/proxy/client/serve_scene.hpp"

namespace proxy::explain {
namespace {

using namespace std::chrono_literals;
using peers::ClaimOutcome;

const std::string kUrl = "http://origin.test/x";

// The neighbours b and c, which claim the URL.
struct PlacesScene : client::ServeScene {
  explicit PlacesScene(config::Settings told) : ServeScene(std::move(told)) {
    for (const std::size_t id : {0U, 1U}) {
      auto report = peers::samples::report_of({}, clock.steady());
      auto digest = peers::samples::native_of({"x"});
      digest.epoch = 0xb + id;
      report.identity.learn_epoch_of_digest(digest.epoch);
      report.claims = peers::Claims(std::move(digest));
      policy->directory->update(id, std::move(report));
    }
  }
  [[nodiscard]] const peers::PeerRef& peer(std::size_t id) const {
    return policy->directory->peers()[id];
  }
  void know(std::size_t id, std::chrono::microseconds takes) const {
    for (int i = 0; i < 100; ++i)
      peer(id)->accuracy.record({ClaimOutcome::true_hit, takes}, clock.steady());
  }
  // It has failed, and its rest is over.
  void fail(std::size_t id) const {
    peer(id)->accuracy.record({ClaimOutcome::broken}, clock.steady() - 1h);
  }
  Explanation explained() {
    auto told = run(explain(
        client,
        {.url = kUrl, .client = *config::parse_address("127.0.0.1"), .client_text = "127.0.0.1"}));
    return std::move(*told);
  }
};

struct Row {
  const char* claim;
  std::chrono::milliseconds b = 2ms;
  std::chrono::milliseconds c = 2ms;
  void (*before)(PlacesScene&) = [](PlacesScene&) {};
  Asks asks = Asks::yes;  // b
  std::string why = {};
  std::string would_ask = {};
  std::chrono::milliseconds origin = 80ms;
};

void expect(const Row& row) {
  auto settings = client::quiet_settings();
  settings.peers = {peers::samples::peer("b"), peers::samples::peer("c", 3129)};
  PlacesScene scene(std::move(settings));
  scene.know(0, row.b);
  scene.know(1, row.c);
  const policy::TextRequest request("", "GET " + kUrl + " HTTP/1.1");
  const auto origin = sources::origin_of((*request).target, scene.policy->lists);
  for (int i = 0; i < 100 && row.origin > 0ms; ++i)
    scene.sources.origin_times.record(origin, row.origin, scene.clock.steady());
  row.before(scene);
  const auto explanation = scene.explained();
  EXPECT_EQ(explanation.sources.peers[0].asks, row.asks) << row.claim;
  EXPECT_EQ(explanation.sources.peers[0].why, row.why) << row.claim;
  EXPECT_EQ(sentence(explanation), "is not stored; would ask " + row.would_ask) << row.claim;
}

TEST(Places, AreThoseThatThePlanGivesANeighbour) {
  const auto b_fails = [](PlacesScene& scene) { scene.fail(0); };
  for (const Row& row : std::vector<Row>{
           {.claim = "both are asked, one after the other",
     .would_ask = "b and c, whose digests claim it, then the origin http://origin.test:80"},
           {.claim = "the origin's time is unknown, and b is not near",
           .b = 20ms,
           .why = "the origin's time is unknown, so it is asked at once, too",
           .would_ask = "b and c, whose digests claim it, then the origin http://origin.test:80",
           .origin = 0ms},
           {.claim = "b is too slow",
           .b = 300ms,
           .asks = Asks::if_origin_fails,
           .why = "it takes 300.0 ms to the first byte, more than the 260.0 ms that fit the "
                  "origin's time (setting digest.prefer)",
           .would_ask = "c, whose digest claims it, then the origin http://origin.test:80"},
           {.claim = "b is on trial, beside c",
           .before = b_fails,
           .asks = Asks::on_trial,
           .why = "it is on trial (broken): it is tried beside the next source",
           .would_ask = "c, whose digest claims it, and at once b, which is on trial, then the "
                        "origin http://origin.test:80"},
           {.claim = "b is on trial, 300 ms away, beside the origin",
           .b = 300ms,
           .c = 300ms,
           .before = b_fails,
           .asks = Asks::on_trial,
           .why = "it is on trial (broken): it is tried beside the next source",
           .would_ask = "the origin http://origin.test:80, and at once b, which is on trial"},
           {.claim = "another request tries b",
           .before =
                [](PlacesScene& scene) {
                  scene.fail(0);
                  ASSERT_TRUE(scene.peer(0)->accuracy.probation().begin_trial());
                },
           .asks = Asks::if_origin_fails,
           .why = "it is on trial (broken), and another trial goes before it",
           .would_ask = "c, whose digest claims it, then the origin http://origin.test:80"},
           {.claim = "too many requests ask two sources",
           .before =
                [](PlacesScene& scene) {
                  scene.fail(0);
                  while (scene.sources.hedges.take()) {
                  }
                },
           .asks = Asks::if_origin_fails,
           .why = "it is on trial (broken), and too many requests ask two sources",
           .would_ask = "c, whose digest claims it, then the origin http://origin.test:80"},
           {.claim = "b rests",
           .before =
                [](PlacesScene& scene) {
                  scene.peer(0)->accuracy.record({ClaimOutcome::broken}, scene.clock.steady());
                },
           .asks = Asks::no,
           .why = "it rests (broken)",
           .would_ask = "c, whose digest claims it, then the origin http://origin.test:80"}})
    expect(row);
}

TEST(Places, OfATrialIsWhatThePlanThenDoes) {
  for (const bool has_hedge : {true, false}) {
    auto settings = client::quiet_settings();
    settings.peers = {peers::samples::peer("b"), peers::samples::peer("c", 3129)};
    PlacesScene scene(std::move(settings));
    scene.fail(0);
    while (!has_hedge && scene.sources.hedges.take()) {
    }
    const sources::Budget budget{.longest = 1h, .patience = 10ms};
    sources::ChoicePlan::Given given{
        .candidates = sources::Candidates(
            scene.policy->directory->claimants(cache::key_of(kUrl), scene.clock.steady()), budget,
            scene.clock.steady(), [] { return 0U; }),
        .budget = budget,
        .origin_takes = {},
        .route = upstream::Route()};
    using sources::Prospect;
    const auto prospect_of = [&](std::size_t id) {
      return sources::prospect_of(scene.peer(id), given, scene.sources.hedges);
    };
    EXPECT_EQ(prospect_of(0), has_hedge ? Prospect::tried : Prospect::no_hedge);
    EXPECT_EQ(prospect_of(1), Prospect::in_line);
    sources::ChoicePlan plan(std::move(given), scene.sources.hedges);
    plan.begin(scene.clock.steady());
    const auto first = std::get<sources::ChoicePlan::Ask>(plan.next(scene.clock.steady()));
    EXPECT_EQ(first.question.peer->name, has_hedge ? "b" : "c");
    EXPECT_EQ(first.question.on_trial, has_hedge);
    if (has_hedge) scene.peer(0)->accuracy.probation().end_trial();
  }
}

}  // namespace
}  // namespace proxy::explain
