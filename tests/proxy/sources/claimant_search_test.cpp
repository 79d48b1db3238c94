#include "proxy/sources/claimant_search.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/sources/search_scene.hpp"

namespace proxy::sources {
namespace {

using namespace std::chrono_literals;
using Prefer = config::Prefer;
using peers::ClaimOutcome;

// What the neighbours b and c have shown before the request, and whom its plan asks.
struct WhomCase {
  const char* claim;
  std::string expected;
  std::chrono::milliseconds b = 2ms;  // its time to the first byte; 0: never measured
  std::chrono::milliseconds c = 2ms;
  std::chrono::milliseconds origin = 80ms;  // 0: unknown
  bool b_claims = true;
  bool c_claims = true;
  void (*before)(SearchScene&, ClaimantSearch::For&) = [](SearchScene&, ClaimantSearch::For&) {};
  void (*settings)(config::Settings&) = [](config::Settings&) {};
};

std::string whom(const WhomCase& row) {
  auto settings = settings_with({"b", "c"});
  row.settings(settings);
  SearchScene scene(std::move(settings));
  scene.poll(0, row.b_claims, 0xb);
  scene.poll(1, row.c_claims, 0xc);
  if (row.b > 0ms) scene.know(0, row.b);
  if (row.c > 0ms) scene.know(1, row.c);
  if (row.origin > 0ms) scene.know_origin(row.origin);
  auto wanted = scene.wanted();
  row.before(scene, wanted);
  return scene.plan_for(wanted);
}

void expect(const std::vector<WhomCase>& rows) {
  for (const auto& row : rows) EXPECT_EQ(whom(row), row.expected) << row.claim;
}

TEST(WhomToAsk, IsWhoeverClaimsTheKeyWithinTheBudget) {
  expect({
      {.claim = "both claim it", .expected = "b; c"},
      {.claim = "one does", .expected = "c", .b_claims = false},
      {.claim = "none does", .expected = "", .b_claims = false, .c_claims = false},
      {.claim = "one is slower than the origin allows", .expected = "b; reserve c", .c = 300ms},
      {.claim = "both are", .expected = "reserve b; reserve c", .b = 300ms, .c = 300ms},
      {.claim = "a near origin spares only 5 ms",
       .expected = "b; reserve c",
       .c = 10ms,
       .origin = 2ms},
      {.claim = "one that was never measured may be fast", .expected = "b; c", .c = 0ms},
      {.claim = "nobody knows what the origin takes",
       .expected = "b; c",
       .c = 300ms,
       .origin = 0ms},
      {.claim = "neighbours are preferred whatever they take",
       .expected = "b; c",
       .c = 900ms,
       .settings = [](config::Settings& told) { told.digest.prefer = Prefer::neighbours; }},
      {.claim = "with latency first, one may be a millisecond slower",
       .expected = "b; reserve c",
       .c = 90ms,
       .settings = [](config::Settings& told) { told.digest.prefer = Prefer::latency; }},
  });
}

TEST(WhomToAsk, LeavesOutWhoHasShownThatItIsOfNoUse) {
  expect({
      {.claim = "it has denied the key since it published its digest",
       .expected = "c",
       .before =
           [](SearchScene& scene, auto&) {
             scene.directory().record_denial(scene.peer(0), scene.key, scene.now());
           }},
      {.claim = "it denied what an older digest claimed",
       .expected = "b; c",
       .before =
           [](SearchScene& scene, auto&) {
             scene.directory().record_denial(scene.peer(0), scene.key, scene.now() - 1s);
           }},
      {.claim = "it rests after a failure",
       .expected = "c",
       .before =
           [](SearchScene& scene, auto&) {
             scene.peer(0)->accuracy.record({ClaimOutcome::broken}, scene.now());
           }},
      {.claim = "it rests, since somebody else answers at its address",
       .expected = "c",
       .before = [](SearchScene& scene,
                    auto&) { (void)scene.peer(0)->accuracy.not_a_proxy(scene.now()); }},
      {.claim = "it rests, since it gave what never was the origin's",
       .expected = "c",
       .before = [](SearchScene& scene,
                    auto&) { scene.peer(0)->accuracy.contradicted(scene.now()); }},
      {.claim = "its digest is too old",
       .expected = "",
       .before = [](SearchScene& scene, auto&) { scene.clock.pass(61s); }},
  });
}

TEST(WhomToAsk, TriesOneThatFailedOnceItsRestIsOver) {
  expect({
      {.claim = "one question failed",
       .expected = "try b; c",
       .before =
           [](SearchScene& scene, auto&) {
             scene.peer(0)->accuracy.record({ClaimOutcome::broken}, scene.now() - 1h);
           }},
      {.claim = "it was too slow a while ago",
       .expected = "try b; c",
       .b = 300ms,
       .before =
           [](SearchScene& scene, auto&) {
             scene.clock.pass(11s);
             scene.know(1, 2ms);
           }},
  });
}

TEST(WhomToAsk, IsAGuestOnlyForTheWholeOfWhatIsNotStoredHere) {
  const auto is_guest = [](config::Settings& told) { told.peers[0].trust = config::Trust::guest; };
  expect({
      {.claim = "a guest claims it", .expected = "b; c", .settings = is_guest},
      {.claim = "a part is wanted, or what is stale here",
       .expected = "c",
       .before = [](SearchScene&, ClaimantSearch::For& wanted) { wanted.allowed.guests = false; },
       .settings = is_guest},
  });
}

TEST(WhomToAsk, IsNobodyWhereTheCallerWantsTheOriginAlone) {
  expect({{.claim = "neighbours are not wanted",
           .expected = "",
           .before = [](SearchScene&, ClaimantSearch::For& wanted) {
             wanted.allowed.only_origin = OnlyOrigin::request;
             wanted.allowed.of_site = true;
           }}});
}

void of_site(SearchScene& /*scene*/, ClaimantSearch::For& wanted) {
  wanted.allowed.of_site = true;
}

// The epochs decide who owns the key: b does if it is the one with the greater bid of the two, and
// greater than our own. So the table gives one of them the bid of the winner.
peers::Epoch winner_over(const SearchScene& scene, peers::Epoch ours) {
  peers::Epoch epoch = 1;
  while (peers::bid_for(scene.key, epoch) <= peers::bid_for(scene.key, ours)) ++epoch;
  return epoch;
}
peers::Epoch loser_to(const SearchScene& scene, peers::Epoch ours) {
  peers::Epoch epoch = 1;
  while (peers::bid_for(scene.key, epoch) >= peers::bid_for(scene.key, ours)) ++epoch;
  return epoch;
}

void make_owner(SearchScene& scene, ClaimantSearch::For& wanted) {
  wanted.allowed.of_site = true;
  const auto ours = scene.publisher.current()->epoch;
  scene.poll(0, false, winner_over(scene, ours));
  scene.poll(1, false, loser_to(scene, ours));
}

// And questions about the origin's responses have found no fetch.
void make_owner_in_vain(SearchScene& scene, ClaimantSearch::For& wanted) {
  make_owner(scene, wanted);
  for (int i = 0; i < 100; ++i)
    record_site_luck(scene.sources, *scene.request, SiteLuck::Question::in_vain);
}

TEST(WhomToAsk, IsTheOwnerOfAKeyThatNobodyClaims) {
  expect({
      {.claim = "the owner may know who fetches it",
       .expected = "site b",
       .b_claims = false,
       .c_claims = false,
       .before = make_owner},
      {.claim = "claimants go before it", .expected = "b; c", .before = of_site},
      {.claim = "the origin is not slow enough for the question",
       .expected = "",
       .origin = 8ms,
       .b_claims = false,
       .c_claims = false,
       .before = make_owner_in_vain},
      {.claim = "nobody has asked one yet",
       .expected = "site b",
       .origin = 8ms,
       .b_claims = false,
       .c_claims = false,
       .before = make_owner},
      {.claim = "but it is for what is stale here",
       .expected = "site b",
       .origin = 8ms,
       .b_claims = false,
       .c_claims = false,
       .before =
           [](SearchScene& scene, ClaimantSearch::For& wanted) {
             make_owner_in_vain(scene, wanted);
             wanted.allowed.held = Held::stale;
           }},
      {.claim = "a neighbour on probation owns nothing",
       .expected = "",
       .b_claims = false,
       .c_claims = false,
       .before =
           [](SearchScene& scene, ClaimantSearch::For& wanted) {
             make_owner(scene, wanted);
             scene.peer(0)->accuracy.record({ClaimOutcome::broken}, scene.now() - 1h);
           }},
      {.claim = "a parent is no part of the site",
       .expected = "",
       .b_claims = false,
       .c_claims = false,
       .before = make_owner,
       .settings = [](config::Settings& told) { told.peers[0].role = config::Role::parent; }},
  });
}

TEST(WhomToAsk, IsTheFetcherThatThisOwnerWasToldOf) {
  const auto we_own_it = [](SearchScene& scene, ClaimantSearch::For& wanted) {
    wanted.allowed.of_site = true;
    const auto ours = scene.publisher.current()->epoch;
    const auto of_c = loser_to(scene, ours);
    scene.poll(0, false, of_c + 1'000'000);
    scene.poll(1, false, of_c);
    scene.directory().update(0, peers::PollReport());  // b has no digest
    scene.site_fetches.enter(scene.key, of_c, scene.now());
  };
  expect({
      {.claim = "c has said that it fetches the key",
       .expected = "site c",
       .b_claims = false,
       .c_claims = false,
       .before = we_own_it},
      {.claim = "c is slower than the budget allows to a claimant",
       .expected = "",
       .c = 300ms,
       .b_claims = false,
       .c_claims = false,
       .before = we_own_it},
  });
}

TEST(WhomToAsk, ComesWithTheRouteAndTheBudgetOfTheRequest) {
  SearchScene scene(settings_with({"b"}));
  scene.know_origin(80ms);
  auto wanted = scene.wanted();
  const auto without = ClaimantSearch::given_for(scene.sources, wanted, {}, scene.now());
  EXPECT_FALSE(without.route) << "the search may not ask the origin";
  EXPECT_EQ(without.budget.longest, 260ms);
  wanted.origin = [&](const upstream::Route&) -> Attempt { throw std::logic_error("asked"); };
  wanted.nobody_else = true;
  const auto with = ClaimantSearch::given_for(scene.sources, wanted, {}, scene.now());
  ASSERT_TRUE(with.route);
  EXPECT_TRUE(with.route->direct);
  EXPECT_TRUE(with.nobody_else);
  EXPECT_TRUE(with.candidates.none());
}

TEST(WhomToAsk, HasNoLongestTimeWhereTheOriginsIsUnknownAndIsNotAsked) {
  SearchScene scene(settings_with({"b"}));
  auto wanted = scene.wanted();
  EXPECT_EQ(ClaimantSearch::given_for(scene.sources, wanted, {}, scene.now()).budget.longest,
            Budget::Time::max());
  wanted.origin = [&](const upstream::Route&) -> Attempt { throw std::logic_error("asked"); };
  EXPECT_EQ(ClaimantSearch::given_for(scene.sources, wanted, {}, scene.now()).budget.longest,
            std::nullopt);
}

}  // namespace
}  // namespace proxy::sources
