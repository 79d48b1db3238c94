#include "proxy/sources/candidates.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "proxy/tiers/placement.hpp"

namespace proxy::sources {
namespace {

using namespace std::chrono_literals;
using config::Prefer;
using peers::FirstByte;
using Standing = peers::Accuracy::Standing;

const peers::SteadyTime kNow{1000s};

// An estimate with hardly any deviation.
FirstByte steady(std::chrono::microseconds time) {
  FirstByte estimate;
  for (int i = 0; i < 100; ++i) estimate = estimate.with(time);
  return estimate;
}

Standing standing(std::chrono::microseconds time, std::chrono::seconds ago = 0s) {
  return {.first_byte = steady(time), .measured = kNow - ago};
}

struct BudgetCase {
  const char* name;
  std::chrono::microseconds origin;
  Prefer prefer;
  std::chrono::microseconds longest;
  std::chrono::microseconds patience;
};

TEST(Budget, FollowsFromTheOriginsTimeAndTheSetting) {
  for (const BudgetCase& c : {BudgetCase{"far", 80ms, Prefer::origin_load, 260ms, 180ms},
                              BudgetCase{"not near", 10ms, Prefer::origin_load, 50ms, 40ms},
                              BudgetCase{"near", 2ms, Prefer::origin_load, 7ms, 24ms},
                              BudgetCase{"far, latency", 80ms, Prefer::latency, 81ms, 10ms},
                              BudgetCase{"near, latency", 2ms, Prefer::latency, 3ms, 10ms}}) {
    const auto budget = budget_against(steady(c.origin), c.prefer);
    EXPECT_EQ(budget.longest, c.longest) << c.name;
    EXPECT_EQ(budget.patience, c.patience) << c.name;
  }
}

TEST(Budget, ANeighbourIsNearIfItIsKnownToAnswerWithinFiveMilliseconds) {
  EXPECT_TRUE(tiers::is_near(steady(5ms)));
  EXPECT_FALSE(tiers::is_near(steady(6ms)));
  EXPECT_FALSE(tiers::is_near(FirstByte{})) << "was never measured";
}

struct AskCase {
  const char* name;
  Standing claimant;
  std::chrono::microseconds origin;  // 0: unknown
  Ask ask;
};

TEST(Budget, AClaimantIsAskedIfItFits) {
  Standing failed = standing(1ms);
  failed.on_probation = true;
  for (const AskCase& c :
       {AskCase{"as fast as the origin", standing(2ms), 2ms, Ask::yes},
        AskCase{"10 ms away beside a near origin", standing(10ms), 2ms, Ask::no},
        AskCase{"10 ms away beside a far origin", standing(10ms), 80ms, Ask::yes},
        AskCase{"three times as far, and 20 ms", standing(260ms), 80ms, Ask::yes},
        AskCase{"farther", standing(261ms), 80ms, Ask::no},
        AskCase{"the origin's time is unknown", standing(900ms), 0ms, Ask::yes},
        AskCase{"never measured", Standing{}, 2ms, Ask::yes},
        AskCase{"too slow, a while ago", standing(10ms, 10s), 2ms, Ask::on_trial},
        AskCase{"too slow, not long ago", standing(10ms, 9s), 2ms, Ask::no},
        AskCase{"it failed", failed, 80ms, Ask::on_trial}}) {
    const auto origin = c.origin > 0ms ? steady(c.origin) : FirstByte();
    const auto budget = budget_against(origin, Prefer::origin_load);
    EXPECT_EQ(whether_to_ask(c.claimant, budget, kNow), c.ask) << c.name;
  }
}

struct PatienceCase {
  const char* name;
  FirstByte claimant;
  std::chrono::microseconds origin;  // 0: unknown
  std::chrono::microseconds least;
  std::chrono::microseconds most;
};

TEST(Budget, TheNextSourceIsAskedAfterTheClaimants95thPercentile) {
  const auto shaky = FirstByte().with(60ms);  // p95: 120 ms
  for (const PatienceCase& c :
       {PatienceCase{"fast: at least 10 ms", steady(1ms), 80ms, 10ms, 10ms},
        PatienceCase{"its own time", steady(40ms), 80ms, 40ms, 41ms},
        PatienceCase{"its own spread", shaky, 80ms, 120ms, 120ms},
        PatienceCase{"at most the budget's patience", shaky, 2ms, 24ms, 24ms},
        PatienceCase{"never measured", FirstByte(), 80ms, 50ms, 50ms},
        PatienceCase{"never measured, near origin", FirstByte(), 2ms, 24ms, 24ms},
        PatienceCase{"nothing is known", FirstByte(), 0ms, 40ms, 40ms},
        PatienceCase{"a fast one, unknown origin", steady(2ms), 0ms, 10ms, 10ms},
        PatienceCase{"a slower one, unknown origin", steady(10ms), 0ms, 0ms, 0ms}}) {
    const auto origin = c.origin > 0ms ? steady(c.origin) : FirstByte();
    const auto patience = patience_with(c.claimant, budget_against(origin, Prefer::origin_load));
    EXPECT_GE(patience, c.least) << c.name;
    EXPECT_LE(patience, c.most) << c.name;
  }
}

TEST(Budget, AnotherSourceHasTheRestOfABodyThatStopsForLonger) {
  const auto near = budget_against(steady(2ms), Prefer::origin_load);
  const auto far = budget_against(steady(80ms), Prefer::origin_load);
  EXPECT_EQ(patience_in_body(steady(1ms), near), 50ms) << "a disk may take that long";
  EXPECT_EQ(patience_in_body(steady(1ms), far), 180ms) << "the budget";
  EXPECT_GE(patience_in_body(steady(200ms), far), 200ms) << "the neighbour's own time";
}

TEST(Budget, OfABodyThatANeighbourFetchesTheRestIsAskedForAfterASecondOrTheOriginsTime) {
  EXPECT_EQ(patience_in_fetched_body(FirstByte()), 1s);
  EXPECT_EQ(patience_in_fetched_body(steady(80ms)), 1s);
  EXPECT_GE(patience_in_fetched_body(steady(3s)), 3s);
}

TEST(Budget, ThatPrefersNeighboursAsksAllOfThemAndWaits) {
  const auto budget = budget_against(steady(2ms), Prefer::neighbours);
  EXPECT_EQ(whether_to_ask(standing(900ms), budget, kNow), Ask::yes);
  EXPECT_GE(patience_with(steady(1ms), budget), 1min);
  EXPECT_GE(patience_with(FirstByte(), budget), 1min);
}

// How often each of the claimants is asked first.
std::map<std::size_t, int> firsts(const std::vector<Standing>& standings, int times) {
  std::minstd_rand random{7};
  std::map<std::size_t, int> counts;
  for (int i = 0; i < times; ++i) {
    std::vector<std::size_t> order;
    for (std::size_t place = 0; place < standings.size(); ++place) order.push_back(place);
    order_by_choice(
        std::span(order), [&](std::size_t place) { return standings[place]; },
        [&] { return static_cast<std::uint32_t>(random()); });
    ++counts[order.front()];
  }
  return counts;
}

TEST(Choice, EqualsShareTheQuestions) {
  std::vector<Standing> equal;
  for (const auto time : {1000us, 1100us, 1200us, 1300us, 1400us, 1500us, 1600us, 1700us}) {
    equal.push_back(standing(time));
  }
  for (const auto& [place, count] : firsts(equal, 8000)) {
    EXPECT_NEAR(count, 1000, 200) << place;
  }
}

TEST(Choice, AClearlyBetterClaimantComesFirst) {
  Standing busy = standing(4ms);
  busy.under_way = 3;
  Standing liar = standing(4ms);
  liar.came_true = 0.25;
  for (const auto& worse : {standing(10ms), busy, liar}) {
    EXPECT_EQ(firsts({worse, standing(4ms)}, 100)[1], 100);
  }
}

TEST(Choice, OfSeveralTheWorstIsNeverFirst) {
  auto counts = firsts({standing(2ms), standing(20ms), standing(2ms)}, 300);
  EXPECT_EQ(counts[1], 0);
  EXPECT_GT(counts[0], 100);
  EXPECT_GT(counts[2], 100);
}

SiteLuck unlucky() {
  SiteLuck luck;
  for (int i = 0; i < 100; ++i) luck = luck.with(SiteLuck::Question::in_vain);
  return luck;
}

TEST(SitePays, WhereTheOriginTakesEightTimesAsLongOrIsUnknown) {
  const FirstByte unknown;
  for (const auto prefer : {Prefer::origin_load, Prefer::neighbours}) {
    EXPECT_TRUE(site_pays(steady(80ms), steady(10ms), prefer, Held::nothing));
    EXPECT_TRUE(site_pays(unknown, steady(10ms), prefer, Held::nothing));
    EXPECT_TRUE(site_pays(steady(80ms), unknown, prefer, Held::nothing))
        << "the question measures the neighbour";
  }
  EXPECT_FALSE(
      site_pays(steady(80ms), steady(11ms), Prefer::origin_load, Held::nothing, unlucky()));
  EXPECT_TRUE(site_pays(steady(1ms), steady(80ms), Prefer::neighbours, Held::nothing));
  for (const auto& origin : {steady(80ms), unknown}) {
    for (const auto held : {Held::nothing, Held::stale}) {
      EXPECT_FALSE(site_pays(origin, steady(1ms), Prefer::latency, held)) << "it would add time";
    }
  }
}

TEST(SitePays, ForWhatIsStaleHereWhereTheOriginTakesTwiceAsLong) {
  const auto pays = [](auto neighbour) {
    return site_pays(steady(2ms), steady(neighbour), Prefer::origin_load, Held::stale, unlucky());
  };
  EXPECT_TRUE(pays(1ms));
  EXPECT_FALSE(pays(1100us));
}

TEST(SitePays, ForASlowerNeighbourWhereQuestionsMostlyFindAFetch) {
  SiteLuck luck;
  const auto pays = [&luck](auto origin, auto neighbour) {
    return site_pays(steady(origin), steady(neighbour), Prefer::origin_load, Held::nothing, luck);
  };
  EXPECT_TRUE(pays(80ms, 900ms)) << "the first question finds out";
  EXPECT_FALSE(pays(2ms, 3ms)) << "a near origin may be kept waiting for half of 5 ms";
  luck = luck.with(SiteLuck::Question::in_vain);
  EXPECT_TRUE(pays(80ms, 78ms)) << "7/16 of what a claimant may take longer: 180 ms";
  EXPECT_FALSE(pays(80ms, 79ms));
  for (int i = 0; i < 100; ++i) luck = luck.with(SiteLuck::Question::found);
  EXPECT_TRUE(pays(80ms, 900ms)) << "whatever it takes";
  EXPECT_TRUE(pays(2ms, 4ms));
  EXPECT_FALSE(pays(2ms, 6ms)) << "a near origin may be kept waiting for 5 ms";
  for (int i = 0; i < 100; ++i) luck = luck.with(SiteLuck::Question::in_vain);
  EXPECT_FALSE(pays(80ms, 11ms));
}

struct FreshnessCase {
  const char* claim;
  std::chrono::seconds lifetime;
  std::chrono::seconds ttl;  // of the stale copy
  std::chrono::seconds expected;
  std::chrono::milliseconds origin = 80ms;
};

TEST(LeastFreshness, KeepsOutCopiesOfWhatHasJustGrownStaleHere) {
  for (const FreshnessCase& c :
       {FreshnessCase{"in the first second a neighbour may call its copy fresh", 20s, 0s, 2s},
        FreshnessCase{"a fresh one was fetched later", 20s, -1s, 0s},
        FreshnessCase{"a new copy lasts long enough for a second", 2s, 0s, 2s},
        FreshnessCase{"no copy lasts long enough", 1s, 0s, 0s},
        FreshnessCase{"none does when it arrives", 2s, 0s, 0s, 700ms},
        FreshnessCase{"one of a slow origin may", 5s, 0s, 2s, 2700ms},
        FreshnessCase{"it is fresh, but has to be validated", 20s, 5s, 0s}}) {
    EXPECT_EQ(least_freshness(c.lifetime, c.ttl, steady(c.origin)), c.expected) << c.claim;
  }
}

TEST(SitePays, AFetchThatIsUnderWayIsWaitedForAsLongAsTheOriginMostlyTakes) {
  EXPECT_GE(patience_with_fetch(steady(80ms)), 100ms);
  EXPECT_LE(patience_with_fetch(steady(80ms)), 120ms);
  EXPECT_EQ(patience_with_fetch({}), 500ms);
  EXPECT_EQ(patience_with_fetch({}, Repeats::yes), 4s) << "of one that says again and again";
}

}  // namespace
}  // namespace proxy::sources
