// Every fault of a neighbour, of the origin and of a parent, in virtual time: whom the plan asks
// then, and after how many milliseconds the client has its answer.
#include <gtest/gtest.h>

#include "tests/proxy/sources/choice_play.hpp"

namespace proxy::sources {
namespace {

using namespace std::chrono_literals;
using plays::Does;
using plays::Play;
using plays::Played;
using plays::Source;
using Prefer = config::Prefer;

void play(const std::vector<Played>& rows) {
  for (const auto& row : rows) EXPECT_EQ(Play(row).told(), row.expected) << row.claim;
}

TEST(NeighboursFault, CostsTheClientASmallBoundedDelay) {
  play({
      {.claim = "it refuses the connection",
       .peers = {{"b", 2ms, Does::fails, 0ms}},
       .expected = "0 ask b; 0 b fails; 0 end"},
      {.claim = "it says no at once",
       .peers = {{"b", 2ms, Does::has_not, 1ms}},
       .expected = "0 ask b; 1 b has not; 1 end"},
      {.claim = "it says no late: the origin was asked meanwhile",
       .peers = {{"b", 2ms, Does::has_not, 60ms}},
       .expected = "0 ask b; 10 ask origin; 60 b has not; 90 origin answers"},
      {.claim = "it is silent for ever",
       .peers = {{"b", 2ms, Does::is_silent}},
       .expected = "0 ask b; 10 ask origin; 90 origin answers; 90 b was slow"},
      {.claim = "it is silent again: that makes nobody wait longer",
       .peers = {{"b", 2ms, Does::is_silent, 1ms, {}, false, 0ms, Does::is_silent, true}},
       .expected = "0 ask b; 10 ask origin; 90 origin answers; 90 b was slow"},
      {.claim = "it breaks off before its head, late",
       .peers = {{"b", 2ms, Does::fails, 30ms}},
       .expected = "0 ask b; 10 ask origin; 30 b fails; 90 origin answers"},
      {.claim = "it sends another version",
       .peers = {{"b", 2ms, Does::has_other, 2ms}},
       .expected = "0 ask b; 2 b has another; 2 end"},
      {.claim = "it sends another version, late",
       .peers = {{"b", 2ms, Does::has_other, 20ms}},
       .expected = "0 ask b; 10 ask origin; 20 b has another; 90 origin answers"},
      {.claim = "it was never measured, and is silent",
       .peers = {{"b", 0ms, Does::is_silent}},
       .expected = "0 ask b; 50 ask origin; 130 origin answers; 130 b was slow"},
      {.claim = "it is silent, and the origin is near",
       .peers = {{"b", 2ms, Does::is_silent}},
       .origin = {"origin", 2ms, Does::has, 2ms},
       .expected = "0 ask b; 10 ask origin; 12 origin answers; 12 b was slow"},
      {.claim = "it is silent, and nobody knows what the origin takes",
       .peers = {{"b", 2ms, Does::is_silent}},
       .origin = {"origin", 0ms, Does::has, 80ms},
       .expected = "0 ask b; 10 ask origin; 90 origin answers; 90 b was slow"},
      {.claim = "it says that it fetches itself, though its digest claims the key",
       .peers = {{"b", 2ms, Does::fetches_itself}},
       .expected = "0 ask b; 1 b waits itself; 100 ask origin; 180 origin answers; 180 b was slow"},
  });
}

TEST(NeighboursFault, IsMadeGoodByTheNextClaimant) {
  play({
      {.claim = "the first refuses the connection",
       .peers = {{"b", 2ms, Does::fails, 0ms}, {"c", 2ms}},
       .expected = "0 ask b; 0 b fails; 0 ask c; 1 c has"},
      {.claim = "the first sends another version",
       .peers = {{"b", 2ms, Does::has_other, 2ms}, {"c", 2ms}},
       .expected = "0 ask b; 2 b has another; 2 ask c; 3 c has"},
      {.claim = "the first is silent, and the second has nothing",
       .peers = {{"b", 2ms, Does::is_silent}, {"c", 2ms, Does::has_not}},
       .expected =
           "0 ask b; 10 ask c; 11 c has not; 11 ask origin; 91 origin answers; 91 b was slow"},
      {.claim = "both are silent, and there is a third",
       .peers = {{"b", 2ms, Does::is_silent}, {"c", 2ms, Does::is_silent}, {"d", 2ms}},
       .expected = "0 ask b; 10 ask c; 20 ask d; 21 d has; 21 b was slow; 21 c was slow"},
      {.claim = "all fail at once: the origin follows without a wait",
       .peers = {{"b", 2ms, Does::fails, 0ms},
                 {"c", 2ms, Does::fails, 0ms},
                 {"d", 2ms, Does::fails, 0ms}},
       .expected = "0 ask b; 0 b fails; 0 ask c; 0 c fails; 0 ask d; 0 d fails; 0 end"},
      {.claim = "two of three fail late: no more than two second questions",
       .peers = {{"b", 2ms, Does::fails, 15ms},
                 {"c", 2ms, Does::fails, 30ms},
                 {"d", 2ms, Does::has, 5ms}},
       .expected = "0 ask b; 10 ask c; 15 b fails; 15 ask d; 20 d has; 20 c was slow"},
  });
}

TEST(NeighboursFault, IsNoReasonToDoubleTheLoadOfOthers) {
  play({
      {.claim =
           "a silent one is left where no second question is allowed: the caller asks the origin",
       .peers = {{"b", 2ms, Does::is_silent}},
       .expected = "0 ask b; 10 end",
       .hedges = false},
      {.claim = "one after the other",
       .peers = {{"b", 2ms, Does::is_silent}, {"c", 2ms, Does::is_silent}},
       .expected = "0 ask b; 10 leave all; 10 ask c; 20 end",
       .hedges = false},
      {.claim = "one that fails is followed in any case",
       .peers = {{"b", 2ms, Does::fails, 1ms}, {"c", 2ms}},
       .expected = "0 ask b; 1 b fails; 1 ask c; 2 c has",
       .hedges = false},
  });
}

TEST(NeighboursFault, OnTrialConcernsNoClient) {
  play({
      {.claim = "it is silent beside another claimant",
       .peers = {{"b", 2ms, Does::is_silent, 1ms, {}, true}, {"c", 2ms, Does::has, 2ms}},
       .expected = "0 try b; 0 ask c; 2 c has"},
      {.claim = "it is silent beside the origin",
       .peers = {{"b", 2ms, Does::is_silent, 1ms, {}, true}},
       .expected = "0 try b; 0 ask origin; 80 origin answers"},
      {.claim = "it says no beside a claimant that is silent",
       .peers = {{"b", 2ms, Does::has_not, 5ms, {}, true}, {"c", 2ms, Does::is_silent}},
       .expected =
           "0 try b; 0 ask c; 5 b has not; 10 ask origin; 90 origin answers; 90 c was slow"},
      {.claim = "two of them: one is tried at a time",
       .peers = {{"b", 2ms, Does::has, 3ms, {}, true}, {"c", 2ms, Does::has, 3ms, {}, true}},
       .expected = "0 try b; 0 ask origin; 3 b has"},
  });
}

TEST(NeighbourPutOff, IsAskedAgainOnceTheOriginHasFailed) {
  const Source broken{"origin", 80ms, Does::fails, 5ms};
  play({
      {.claim = "the origin answers: nobody needs it",
       .peers = {{"b", 2ms, Does::may_be_cut, 2ms}},
       .expected = "0 ask b; 2 b is put off; 2 ask origin; 82 origin answers"},
      {.claim = "the origin fails",
       .peers = {{"b", 2ms, Does::may_be_cut, 2ms}},
       .origin = broken,
       .expected =
           "0 ask b; 2 b is put off; 2 ask origin; 7 origin fails; 7 ask b; 9 b is put off; 9 end"},
      {.claim = "another claimant goes before it",
       .peers = {{"b", 2ms, Does::may_be_cut, 2ms}, {"c", 2ms}},
       .origin = broken,
       .expected = "0 ask b; 2 b is put off; 2 ask c; 3 c has"},
  });
}

TEST(OriginsFault, LeavesTheClaimantsAndTheReserve) {
  const Source broken{"origin", 80ms, Does::fails, 5ms};
  const Source error{"origin", 80ms, Does::says_error, 5ms};
  play({
      {.claim = "the origin alone fails",
       .peers = {{"b", 300ms, Does::has_not, 1ms}},
       .origin = broken,
       .expected = "0 ask origin; 5 origin fails; 5 ask b; 6 b has not; 6 end"},
      {.claim = "its error is the answer where the reserve has nothing",
       .peers = {{"b", 300ms, Does::fails, 1ms}},
       .origin = error,
       .expected = "0 ask origin; 5 origin errs; 5 ask b; 6 b fails; 6 end"},
      {.claim = "a slow neighbour has it",
       .peers = {{"b", 300ms, Does::has, 300ms}},
       .origin = broken,
       .expected = "0 ask origin; 5 origin fails; 5 ask b; 305 b has"},
      {.claim = "one on trial, which was asked beside it, is waited for",
       .peers = {{"b", 2ms, Does::has, 30ms, {}, true}},
       .origin = broken,
       .expected = "0 try b; 0 ask origin; 5 origin fails; 30 b has"},
      {.claim = "a silent claimant and a slow one",
       .peers = {{"b", 2ms, Does::is_silent}, {"c", 300ms, Does::has, 100ms}},
       .origin = broken,
       .expected = "0 ask b; 10 ask origin; 15 origin fails; 15 ask c; 115 c has; 115 b was slow"},
      {.claim = "neighbours are preferred: the origin is asked when they all have nothing",
       .peers = {{"b", 300ms, Does::has_not, 300ms}, {"c", 2ms, Does::fails, 1ms}},
       .origin = broken,
       .expected = "0 ask c; 1 c fails; 1 ask b; 301 b has not; 301 end",
       .prefer = Prefer::neighbours},
  });
}

TEST(ParentsFault, LeadsToTheRestOfTheRoute) {
  play({
      {.claim = "the parent fails: the fetch itself goes on along the route",
       .expected = "0 ask p; 5 p fails",
       .parents = {{"p", 0ms, Does::fails, 5ms}}},
      {.claim = "a silent parent is raced, and answers late",
       .expected = "0 ask p; 100 ask origin; 150 p answers",
       .parents = {{"p", 0ms, Does::has, 150ms}}},
      {.claim = "the origin fails beside a silent parent, which is waited for",
       .origin = {"origin", 80ms, Does::fails, 5ms},
       .expected = "0 ask p; 100 ask origin; 105 origin fails; 400 p answers",
       .parents = {{"p", 0ms, Does::has, 400ms}}},
      {.claim = "an origin of unknown time is given 200 ms",
       .origin = {"origin", 0ms, Does::has, 80ms},
       .expected = "0 ask p; 200 ask origin; 280 origin answers; 280 p was slow",
       .parents = {{"p", 0ms, Does::is_silent}}},
      {.claim = "a claimant that has it spares the parent",
       .peers = {{"b", 2ms}},
       .expected = "0 ask b; 1 b has",
       .parents = {{"p", 0ms, Does::is_silent}}},
      {.claim =
           "on a line that is paid by the byte, parents are waited for as long as time-outs allow",
       .expected = "0 ask p; 3600000 ask origin; 3600080 origin answers; 3600080 p was slow",
       .prefer = Prefer::neighbours,
       .parents = {{"p", 0ms, Does::is_silent}}},
  });
}

TEST(SiteQuestion, CostsNoMoreThanAClaim) {
  play({
      {.claim = "the owner fails",
       .peers = {{"b", 2ms, Does::fails, 0ms}},
       .expected = "0 ask b; 0 b fails; 0 give up b; 0 end",
       .lead = Lead::site},
      {.claim = "the owner holds it by now",
       .peers = {{"b", 2ms, Does::has, 3ms}},
       .expected = "0 ask b; 3 b has",
       .lead = Lead::site},
      {.claim = "the fetcher that it names is silent",
       .peers = {{"b", 2ms, Does::has_not, 1ms, "c"}, {"c", 2ms, Does::is_silent}},
       .expected = "0 ask b; 1 b has not; 1 ask c; 11 give up c; 11 ask b; 12 b has not; "
                   "12 ask origin; 92 origin answers; 92 c was slow",
       .lead = Lead::site},
      {.claim = "the fetcher waits itself, and the origin is the faster way",
       .peers = {{"b", 2ms, Does::has_not, 1ms, "c"}, {"c", 2ms, Does::fetches_itself}},
       .expected = "0 ask b; 1 b has not; 1 ask c; 2 c waits itself; 100 give up c; 100 ask b; 101 "
                   "b has not; 101 ask origin; "
                   "181 origin answers; 181 c was slow",
       .lead = Lead::site},
  });
}

TEST(HowLeft, ExcusesWhatSaysNothingOfTheNeighbour) {
  const auto start = plays::kStart;
  peers::PeerDirectory directory(std::vector{peers::samples::peer("b")});
  ChoicePlan::Question to_peer{.peer = directory.peers().front(), .expected_by = start + 10ms};
  ChoicePlan::Question to_origin{.expected_by = start + 10ms};
  struct Row {
    const ChoicePlan::Question& question;
    Silence silence;
    ChoicePlan::Time now;
    Left left;
  };
  for (const auto& [question, silence, now, left] :
       {Row{to_peer, Silence::unexcused, start + 9ms, Left::in_time},
        Row{to_peer, Silence::unexcused, start + 10ms, Left::late_peer},
        Row{to_peer, Silence::excused, start + 10ms, Left::in_time},
        Row{to_peer, Silence::none, start + 10ms, Left::in_time},
        Row{to_origin, Silence::unexcused, start + 10ms, Left::late_origin},
        Row{to_origin, Silence::excused, start + 10ms, Left::late_origin},
        Row{to_origin, Silence::none, start + 10ms, Left::in_time}}) {
    EXPECT_EQ(how_left(question, silence, now), left);
  }
}

}  // namespace
}  // namespace proxy::sources
