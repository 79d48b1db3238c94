#include "proxy/sources/choice_plan.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/sources/choice_play.hpp"

namespace proxy::sources {
namespace {

using namespace std::chrono_literals;
using plays::Does;
using plays::fetches;
using plays::Play;
using plays::Played;
using plays::Source;
using Prefer = config::Prefer;

void play(const std::vector<Played>& rows) {
  for (const auto& row : rows) EXPECT_EQ(Play(row).told(), row.expected) << row.claim;
}

const Source kUnknownOrigin{"origin", 0ms, Does::has, 80ms};
const Source kSilentOrigin{"origin", 80ms, Does::is_silent};
const Source kBrokenOrigin{"origin", 80ms, Does::fails, 5ms};

TEST(ChoicePlan, AsksClaimantsWithinTheBudgetAndThenTheOrigin) {
  play({
      {.claim = "a claimant that has it is the only one asked",
       .peers = {{"b", 2ms}},
       .expected = "0 ask b; 1 b has"},
      {.claim = "one that fails is followed at once by the next",
       .peers = {{"b", 2ms, Does::fails, 3ms}, {"c", 2ms}},
       .expected = "0 ask b; 3 b fails; 3 ask c; 4 c has"},
      {.claim = "nobody has it: the origin",
       .peers = {{"b", 2ms, Does::has_not}, {"c", 2ms, Does::has_not}},
       .expected = "0 ask b; 1 b has not; 1 ask c; 2 c has not; 2 end"},
      {.claim = "one that was never measured may be slow",
       .peers = {{"b", 0ms, Does::has, 40ms}},
       .expected = "0 ask b; 40 b has"},
      {.claim = "one that takes longer than the budget is not asked",
       .peers = {{"b", 300ms}, {"c", 2ms, Does::has_not}},
       .expected = "0 ask c; 1 c has not; 1 ask origin; 81 origin answers"},
      {.claim = "and the origin is asked without a question to it",
       .peers = {{"b", 300ms}},
       .expected = "0 ask origin; 80 origin answers"},
      {.claim = "unless only neighbours are wanted",
       .peers = {{"b", 300ms, Does::has, 300ms}},
       .expected = "0 ask b; 300 b has",
       .prefer = Prefer::neighbours},
      {.claim = "with latency first, the origin follows soon",
       .peers = {{"b", 40ms, Does::has, 40ms}},
       .expected = "0 ask b; 10 ask origin; 40 b has",
       .prefer = Prefer::latency},
      {.claim = "an origin of unknown time is asked at once beside a neighbour that is not near",
       .peers = {{"b", 20ms, Does::has, 20ms}},
       .origin = kUnknownOrigin,
       .expected = "0 ask b; 0 ask origin; 20 b has"},
      {.claim = "an origin of unknown time is asked before a neighbour that is not near",
       .peers = {{"b", 2ms, Does::is_silent}, {"c", 20ms}},
       .origin = kUnknownOrigin,
       .expected = "0 ask b; 10 ask origin; 90 origin answers; 90 b was slow"},
  });
}

TEST(ChoicePlan, RacesASilentClaimant) {
  play({
      {.claim = "with the next claimant, which wins",
       .peers = {{"b", 2ms, Does::is_silent}, {"c", 2ms}},
       .expected = "0 ask b; 10 ask c; 11 c has; 11 b was slow"},
      {.claim = "with the origin, once the patience is over",
       .peers = {{"b", 2ms, Does::is_silent}, {"c", 2ms, Does::is_silent}},
       .expected =
           "0 ask b; 10 ask c; 20 ask origin; 100 origin answers; 100 b was slow; 100 c was slow"},
      {.claim = "a late answer wins if it is the first",
       .peers = {{"b", 2ms, Does::has, 50ms}, {"c", 2ms, Does::is_silent}},
       .expected = "0 ask b; 10 ask c; 20 ask origin; 50 b has; 50 c was slow"},
      {.claim = "the silent one is left where no second question is allowed",
       .peers = {{"b", 2ms, Does::is_silent}, {"c", 2ms}},
       .expected = "0 ask b; 10 leave all; 10 ask c; 11 c has",
       .hedges = false},
      {.claim = "neighbours alone are waited for as long as time-outs allow",
       .peers = {{"b", 2ms, Does::is_silent}, {"c", 2ms}},
       .expected = "0 ask b; 0 wait for ever",
       .prefer = Prefer::neighbours},
  });
}

TEST(ChoicePlan, TriesANeighbourThatFailedBesideTheNextSource) {
  play({
      {.claim = "beside another claimant",
       .peers = {{"b", 2ms, Does::has, 30ms, {}, true}, {"c", 2ms}},
       .expected = "0 try b; 0 ask c; 1 c has"},
      {.claim = "beside the origin",
       .peers = {{"b", 2ms, Does::has, 30ms, {}, true}},
       .expected = "0 try b; 0 ask origin; 30 b has"},
      {.claim = "whose failure changes nothing",
       .peers = {{"b", 2ms, Does::fails, 1ms, {}, true}, {"c", 5ms, Does::has, 5ms}},
       .expected = "0 try b; 0 ask c; 1 b fails; 5 c has"},
      {.claim = "not where no second question is allowed",
       .peers = {{"b", 2ms, Does::has, 30ms, {}, true}, {"c", 2ms}},
       .expected = "0 ask c; 1 c has",
       .hedges = false},
      {.claim = "not where the origin may not be asked",
       .peers = {{"b", 2ms, Does::has, 30ms, {}, true}},
       .expected = "0 end",
       .may_ask_origin = false},
      {.claim = "but it is asked where nobody else is left",
       .peers = {{"b", 2ms, Does::has, 3ms, {}, true}},
       .expected = "0 ask b; 3 b has",
       .may_ask_origin = false,
       .nobody_else = true},
  });
}

TEST(ChoicePlan, AsksTheReserveOnceTheOriginHasFailed) {
  play({
      {.claim = "claimants that do not fit the budget",
       .peers = {{"b", 2ms, Does::has_not}, {"c", 300ms, Does::has, 300ms}},
       .origin = kBrokenOrigin,
       .expected = "0 ask b; 1 b has not; 1 ask origin; 6 origin fails; 6 ask c; 306 c has"},
      {.claim = "an error of the origin is kept while a claimant may still answer",
       .peers = {{"b", 2ms, Does::has, 200ms}},
       .origin = {"origin", 80ms, Does::says_error, 5ms},
       .expected = "0 ask b; 10 ask origin; 15 origin errs; 200 b has"},
      {.claim = "it is not asked again while a slow claimant is waited for, nor is that one left",
       .peers = {{"b", 2ms, Does::has, 200ms}},
       .origin = kBrokenOrigin,
       .expected = "0 ask b; 10 ask origin; 15 origin fails; 200 b has"},
      {.claim = "an error is the answer once none may",
       .peers = {{"b", 2ms, Does::has_not, 50ms}},
       .origin = {"origin", 80ms, Does::says_error, 5ms},
       .expected = "0 ask b; 10 ask origin; 15 origin errs; 50 b has not; 50 end"},
      {.claim = "without the origin the plan ends after the last claimant",
       .peers = {{"b", 2ms, Does::has_not}},
       .expected = "0 ask b; 1 b has not; 1 end",
       .may_ask_origin = false},
      {.claim = "a silent claimant is waited for where nobody else is left",
       .peers = {{"b", 2ms, Does::has, 500ms}},
       .expected = "0 ask b; 500 b has",
       .may_ask_origin = false,
       .nobody_else = true},
      {.claim = "not where the caller has another source",
       .peers = {{"b", 2ms, Does::has, 500ms}},
       .expected = "0 ask b; 10 end",
       .may_ask_origin = false},
  });
}

TEST(ChoicePlan, AsksTheSiteWhoFetchesWhatNobodyClaims) {
  play({
      {.claim = "nobody does",
       .peers = {{"b", 2ms, Does::has_not}},
       .expected = "0 ask b; 1 b has not; 1 end",
       .lead = Lead::site},
      {.claim = "the owner does: it is worth as much patience as the origin",
       .peers = {{"b", 2ms, Does::fetches_itself}},
       .expected = "0 ask b; 1 b waits itself; 100 give up b; 100 ask origin; 180 origin answers; "
                   "180 b was slow",
       .lead = Lead::site},
      {.claim = "the owner names who does",
       .peers = {{"b", 2ms, Does::has_not, 1ms, "c"}, {"c", 2ms, Does::has, 30ms}},
       .expected = "0 ask b; 1 b has not; 1 ask c; 11 give up c; 11 ask origin; 31 c has",
       .lead = Lead::site,
       .owners = ""},
      {.claim = "one that is named names no other",
       .peers = {{"b", 2ms, Does::has_not, 1ms, "c"}, {"c", 2ms, Does::has_not, 1ms, "b"}},
       .expected = "0 ask b; 1 b has not; 1 ask c; 2 c has not; 2 end",
       .lead = Lead::site},
      {.claim = "a silent owner is not waited for",
       .peers = {{"b", 2ms, Does::is_silent}},
       .expected = "0 ask b; 10 give up b; 10 ask origin; 90 origin answers; 90 b was slow",
       .lead = Lead::site},
  });
}

// So the site fetches once more, whoever was lost, and not once for each member that waits.
TEST(ChoicePlan, AsksTheNextOwnerWhenAMemberOfTheSiteIsLost) {
  play({
      {.claim = "the owner cannot be reached",
       .peers = {{"b", 2ms, Does::fails, 0ms}, {"c", 2ms, Does::has, 30ms}},
       .expected =
           "0 ask b; 0 b fails; 0 give up b; 0 ask c; 10 give up c; 10 ask origin; 30 c has",
       .lead = Lead::site,
       .owners = "bc"},
      {.claim = "the owner is silent",
       .peers = {{"b", 2ms, Does::is_silent}, {"c", 2ms, Does::has_not}},
       .expected = "0 ask b; 10 give up b; 10 ask c; 11 c has not; 11 ask origin; "
                   "91 origin answers; 91 b was slow",
       .lead = Lead::site,
       .owners = "bc"},
      {.claim = "two owners are silent",
       .peers = {{"b", 2ms, Does::is_silent}, {"c", 2ms, Does::is_silent}, {"d", 2ms}},
       .expected = "0 ask b; 10 give up b; 10 ask c; 20 give up c; 20 ask d; 21 d has; "
                   "21 b was slow; 21 c was slow",
       .lead = Lead::site,
       .owners = "bcd"},
      {.claim = "three are silent, and a fourth is not asked",
       .peers = {{"b", 2ms, Does::is_silent},
                 {"c", 2ms, Does::is_silent},
                 {"d", 2ms, Does::is_silent},
                 {"e", 2ms}},
       .expected = "0 ask b; 10 give up b; 10 ask c; 20 give up c; 20 ask d; 30 ask origin; "
                   "110 origin answers; 110 b was slow; 110 c was slow; 110 d was slow",
       .lead = Lead::site,
       .owners = "bcde"},
      {.claim = "the fetcher breaks off: the owner makes us the next one",
       .peers = {{"b", 2ms, Does::has_not, 1ms, "c"}, fetches("c", 60ms, Does::fails)},
       .expected = "0 ask b; 1 b has not; 1 ask c; 2 c waits itself; 61 c fails; 61 give up c; "
                   "61 ask b; 62 b has not; 62 end",
       .lead = Lead::site},
      {.claim = "the fetcher breaks off: the owner names the one that was the first to notice",
       .peers = {{"b", 2ms, Does::has_not, 1ms, "cd"},
                 fetches("c", 60ms, Does::fails),
                 fetches("d", 80ms)},
       .expected = "0 ask b; 1 b has not; 1 ask c; 2 c waits itself; 61 c fails; 61 give up c; "
                   "61 ask b; 62 b has not; 62 ask d; 63 d waits itself; 142 d has",
       .lead = Lead::site},
      {.claim = "the fetcher falls silent, which its missing word shows",
       .peers = {{"b", 2ms, Does::has_not, 1ms, "cd"},
                 fetches("c", 600ms, Does::is_silent),
                 fetches("d", 80ms)},
       .origin = {"origin", 0ms, Does::has, 1500ms},
       .expected = "0 ask b; 1 b has not; 1 ask c; 2 c waits itself; 1002 give up c; "
                   "1002 ask b; 1003 b has not; 1003 ask d; 1004 d waits itself; 1083 d has; "
                   "1083 c was slow",
       .lead = Lead::site},
      {.claim = "the fetcher works, but takes too long: one more fetches",
       .peers = {fetches("b", 9s), fetches("c", 80ms)},
       .expected = "0 ask b; 1 b waits itself; 400 give up b; 400 ask c; 401 c waits itself; "
                   "480 c has; 480 b was slow",
       .lead = Lead::site,
       .owners = "bc"},
      {.claim = "two take too long: no third one is asked",
       .peers = {fetches("b", 9s), fetches("c", 9s)},
       .expected = "0 ask b; 1 b waits itself; 400 give up b; 400 ask c; 401 c waits itself; "
                   "801 ask origin; 881 origin answers; 881 b was slow; 881 c was slow",
       .lead = Lead::site,
       .owners = "bcd"},
      {.claim = "one that was given up answers first",
       .peers = {fetches("b", 430ms), fetches("c", 80ms)},
       .expected = "0 ask b; 1 b waits itself; 400 give up b; 400 ask c; 401 c waits itself; "
                   "430 b has; 430 c was slow",
       .lead = Lead::site,
       .owners = "bc"},
      {.claim = "one that was given up has got nothing: the other is waited for",
       .peers = {fetches("b", 430ms, Does::has_not), fetches("c", 80ms)},
       .expected = "0 ask b; 1 b waits itself; 400 give up b; 400 ask c; 401 c waits itself; "
                   "430 b has not; 480 c has",
       .lead = Lead::site,
       .owners = "bc"},
      {.claim = "one that was given up makes us the fetcher: others may wait for us",
       .peers = {{"b", 2ms, Does::has_not, 15ms}, fetches("c", 80ms)},
       .expected = "0 ask b; 10 give up b; 10 ask c; 11 c waits itself; 15 b has not; "
                   "15 ask origin; 90 c has",
       .lead = Lead::site,
       .owners = "bc"},
      {.claim = "an owner that was given up names the fetcher, while the next one is silent",
       .peers = {{"b", 2ms, Does::has_not, 15ms, "d"},
                 {"c", 2ms, Does::is_silent},
                 fetches("d", 80ms)},
       .expected = "0 ask b; 10 give up b; 10 ask c; 15 b has not; 15 ask d; 16 d waits itself; "
                   "95 d has; 95 c was slow",
       .lead = Lead::site,
       .owners = "bc"},
      {.claim = "it names the one that is asked already",
       .peers = {{"b", 2ms, Does::has_not, 15ms, "c"}, {"c", 2ms, Does::has, 8ms}},
       .expected = "0 ask b; 10 give up b; 10 ask c; 15 b has not; 18 c has",
       .lead = Lead::site,
       .owners = "bc"},
      {.claim = "it names one, while the next owner fetches: that one is enough",
       .peers = {{"b", 2ms, Does::has_not, 15ms, "d"}, fetches("c", 80ms), fetches("d", 80ms)},
       .expected = "0 ask b; 10 give up b; 10 ask c; 11 c waits itself; 15 b has not; 90 c has",
       .lead = Lead::site,
       .owners = "bc"},
      {.claim = "only neighbours are wanted, and one says but once that it waits: perhaps for us",
       .peers = {{"b", 2ms, Does::fetches_itself}},
       .expected = "0 ask b; 1 b waits itself; 401 give up b; 401 ask origin; "
                   "481 origin answers",
       .prefer = Prefer::neighbours,
       .lead = Lead::site},
      {.claim = "only neighbours are wanted: silence is noticed, and slowness is borne",
       .peers = {fetches("b", 5s, Does::is_silent), fetches("c", 9s)},
       .expected = "0 ask b; 1 b waits itself; 5251 give up b; 5251 ask c; 5252 c waits itself; "
                   "14251 c has",
       .prefer = Prefer::neighbours,
       .lead = Lead::site,
       .owners = "bc"},
  });
}

TEST(ChoicePlan, GivesAMemberOfTheSiteMoreTimeWhereThisMachineIsLateItself) {
  play({
      {.claim = "the answer came while nobody looked",
       .peers = {{"b", 2ms, Does::has, 50ms}},
       .expected = "0 ask b; 50 b has",
       .lead = Lead::site,
       .late = 30ms},
      {.claim = "but only once",
       .peers = {{"b", 2ms, Does::is_silent}},
       .expected = "0 ask b; 100 give up b; 100 ask origin; 180 origin answers; 180 b was slow",
       .lead = Lead::site,
       .late = 30ms},
      {.claim = "a quarter of a second at most",
       .peers = {{"b", 2ms, Does::is_silent}},
       .expected = "0 ask b; 2260 give up b; 2260 ask origin; 2340 origin answers; 2340 b was slow",
       .lead = Lead::site,
       .late = 1000ms},
      {.claim = "a few milliseconds are nothing",
       .peers = {{"b", 2ms, Does::is_silent}},
       .expected = "0 ask b; 14 give up b; 14 ask origin; 94 origin answers; 94 b was slow",
       .lead = Lead::site,
       .late = 4ms},
      {.claim = "a claimant gets none: the next source is asked",
       .peers = {{"b", 2ms, Does::is_silent}},
       .expected = "0 ask b; 40 ask origin; 120 origin answers; 120 b was slow",
       .late = 30ms},
  });
}

TEST(ChoicePlan, GivesAMemberOfTheSiteTimeForEachQuestionThatItIsAskedAtOnce) {
  const auto among_others = [](Source source) {
    source.asked = 30;
    return source;
  };
  play({
      {.claim = "it answers the others first",
       .peers = {among_others({"b", 2ms, Does::has, 250ms})},
       .expected = "0 ask b; 250 b has",
       .lead = Lead::site},
      {.claim = "10 ms for each of them, by which it is late",
       .peers = {among_others({"b", 2ms, Does::is_silent})},
       .expected = "0 ask b; 300 give up b; 300 ask origin; 380 origin answers; 380 b was slow",
       .lead = Lead::site},
      {.claim = "half a second at most",
       .peers = {among_others({"b", 30ms, Does::is_silent})},
       .expected = "0 ask b; 500 give up b; 500 ask origin; 580 origin answers; 580 b was slow",
       .lead = Lead::site},
      {.claim = "one that has said that it waits has time to say so",
       .peers = {among_others(fetches("b", 260ms, Does::is_silent))},
       .origin = {"origin", 0ms, Does::has, 80ms},
       .expected = "0 ask b; 1 b waits itself; 751 give up b; 751 ask origin; 831 origin answers; "
                   "831 b was slow",
       .lead = Lead::site},
      {.claim = "a claimant gets none: the next source is asked",
       .peers = {among_others({"b", 2ms, Does::is_silent})},
       .expected = "0 ask b; 10 ask origin; 90 origin answers; 90 b was slow"},
  });
}

TEST(ChoicePlan, AsksTheRestOfTheRouteWhileAParentIsSilent) {
  play({
      {.claim = "the origin itself",
       .origin = {"origin", 80ms, Does::has, 80ms},
       .expected = "0 ask p; 100 ask origin; 180 origin answers; 180 p was slow",
       .parents = {{"p", 0ms, Does::is_silent}}},
      {.claim = "the next parent, then the origin",
       .origin = {"origin", 80ms, Does::has, 80ms},
       .expected =
           "0 ask p; 100 ask q; 200 ask origin; 280 origin answers; 280 p was slow; 280 q was slow",
       .parents = {{"p", 0ms, Does::is_silent}, {"q", 0ms, Does::is_silent}}},
      {.claim = "a parent that answers is the only one asked",
       .expected = "0 ask p; 30 p answers",
       .parents = {{"p", 0ms, Does::has, 30ms}}},
      {.claim = "not where no second question is allowed",
       .expected = "0 ask p; 3000 p answers",
       .hedges = false,
       .parents = {{"p", 0ms, Does::has, 3000ms}}},
      {.claim = "after claimants that have nothing",
       .peers = {{"b", 2ms, Does::has_not}},
       .expected =
           "0 ask b; 1 b has not; 1 ask p; 101 ask origin; 181 origin answers; 181 p was slow",
       .parents = {{"p", 0ms, Does::is_silent}}},
  });
}

TEST(ChoicePlan, HasNothingToChooseWithoutClaimantsAndParents) {
  play({{.claim = "the caller asks the origin itself", .expected = "no choice"}});
}

}  // namespace
}  // namespace proxy::sources
