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

using sources::Prospect;

// What may differ in a plan of the neighbours b and c.
struct PlanCase {
  enum class Is : std::uint8_t { near, slow, on_trial, tried_by_another } b, c;
  bool has_hedge, has_route, nobody_else;
};

void make(PlacesScene& scene, std::size_t id, PlanCase::Is is) {
  if (is == PlanCase::Is::near) return scene.know(id, 2ms);
  if (is == PlanCase::Is::slow) return scene.know(id, 300ms);
  scene.fail(id);
  if (is == PlanCase::Is::tried_by_another) {
    ASSERT_TRUE(scene.peer(id)->accuracy.probation().begin_trial());
  }
}

// Whether each neighbour is asked, in its turn or on trial, if all neighbours fail and the origin
// does not.
std::array<std::optional<Prospect>, 2> asked_by(sources::ChoicePlan& plan, PlacesScene& scene) {
  using Plan = sources::ChoicePlan;
  std::array<std::optional<Prospect>, 2> asked;
  const auto now = scene.clock.steady();
  plan.begin(now);
  for (;;) {
    const auto action = plan.next(now);
    const auto* const ask = std::get_if<Plan::Ask>(&action);
    if (!ask || !ask->question.peer) return asked;
    const auto& question = ask->question;
    asked[question.peer->id] = question.on_trial ? Prospect::tried : Prospect::in_line;
    if (question.on_trial) question.peer->accuracy.probation().end_trial();
    plan.peer_has_not(question.number, Plan::No::failed, now);
  }
}

void expect_what_the_plan_does(const PlanCase& c) {
  auto settings = client::quiet_settings();
  settings.peers = {peers::samples::peer("b"), peers::samples::peer("c", 3129)};
  PlacesScene scene(std::move(settings));
  make(scene, 0, c.b);
  make(scene, 1, c.c);
  while (!c.has_hedge && scene.sources.hedges.take()) {
  }
  const auto now = scene.clock.steady();
  const sources::Budget budget{.longest = 10ms, .patience = 1h};
  sources::ChoicePlan::Given given{.candidates = sources::Candidates(
                                       scene.policy->directory->claimants(cache::key_of(kUrl), now),
                                       budget, now, [] { return 0U; }),
                                   .budget = budget,
                                   .origin_takes = {},
                                   .nobody_else = c.nobody_else};
  if (c.has_route) given.route = upstream::Route();
  std::array<std::optional<Prospect>, 2> foretold;
  for (const std::size_t id : {0U, 1U}) {
    const auto prospect = sources::prospect_of(scene.peer(id), given, scene.sources.hedges);
    ASSERT_TRUE(prospect);
    const bool is_asked = *prospect == Prospect::in_line || *prospect == Prospect::tried;
    if (is_asked) foretold[id] = prospect;
  }
  sources::ChoicePlan plan(std::move(given), scene.sources.hedges);
  EXPECT_EQ(asked_by(plan, scene), foretold)
      << "b " << static_cast<int>(c.b) << ", c " << static_cast<int>(c.c) << ", hedge "
      << c.has_hedge << ", route " << c.has_route << ", nobody else " << c.nobody_else;
}

TEST(Prospect, IsWhatAPlanThenDoesInEveryCase) {
  using Is = PlanCase::Is;
  for (const auto b : {Is::near, Is::slow, Is::on_trial, Is::tried_by_another})
    for (const auto c : {Is::near, Is::slow, Is::on_trial, Is::tried_by_another})
      for (const unsigned bits : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U})
        expect_what_the_plan_does({b, c, (bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0});
}

}  // namespace
}  // namespace proxy::explain
