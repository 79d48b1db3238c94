#include "peers/poll.hpp"

#include <gtest/gtest.h>

namespace peers {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::seconds;

const SteadyTime kNow{1000s};

struct Case {
  const char* name;
  LastPoll last;
  double jitter;
  milliseconds gap;
};

LastPoll good(PeerKind kind, std::optional<seconds> expires_in = std::nullopt) {
  return {
      .kind = kind, .outcome = Polled::fetched, .failures_in_a_row = 0, .expires_in = expires_in};
}

LastPoll held(milliseconds for_so_long, PeerKind kind = PeerKind::hearsay) {
  return {.kind = kind,
          .outcome = Polled::unchanged,
          .failures_in_a_row = 0,
          .expires_in = {},
          .held = for_so_long};
}

LastPoll failed(PeerKind kind, std::uint32_t failures, milliseconds overdue = 0ms) {
  return {.kind = kind,
          .outcome = Polled::failed,
          .failures_in_a_row = failures,
          .expires_in = {},
          .overdue = overdue};
}

class NextPoll : public testing::TestWithParam<Case> {};

LastPoll without_address(LastPoll last) {
  last.unresolved = true;
  return last;
}

TEST_P(NextPoll, IsAsPlanned) {
  EXPECT_EQ(next_poll(GetParam().last, 1s, GetParam().jitter, kNow) - kNow, GetParam().gap);
}

INSTANTIATE_TEST_SUITE_P(
    Plan, NextPoll,
    testing::Values(
        Case{"HearsayEachPoll", good(PeerKind::hearsay), 0, 1s},
        Case{"HearsayIgnoresExpires", good(PeerKind::hearsay, 300s), 0, 1s},
        Case{"JitterOnlyShortens", good(PeerKind::hearsay), 0.5, 950ms},
        Case{"UnknownLikeHearsay", good(PeerKind::unknown), 0, 1s},
        Case{"UnchangedLikeFetched", {PeerKind::hearsay, Polled::unchanged, 0, {}}, 0, 1s},
        Case{"HeldPollsNoFasterThanOthers", held(300ms), 0, 700ms},
        Case{"AtOnceAfterALongHold", held(5s), 0, 0ms},
        Case{"HeldAndJitter", held(300ms), 0.5, 650ms},
        Case{"NoHoldShortensTheGapToASquid", held(5s, PeerKind::squid), 0, 300s},
        Case{"SquidAtItsExpires", good(PeerKind::squid, 40s), 0, 40s},
        Case{"SquidSpread", good(PeerKind::squid, 40s), 0.5, 42'500ms},
        Case{"SquidNeverUnderTenSeconds", good(PeerKind::squid, 1s), 0, 10s},
        Case{"SquidExpiredAlready", good(PeerKind::squid, -500s), 0, 10s},
        Case{"SquidNeverOverAnHour", good(PeerKind::squid, 7200s), 0.9, 3600s},
        Case{"SquidAbsurdExpires", good(PeerKind::squid, seconds::max()), 0, 3600s},
        Case{"SquidAbsurdPast", good(PeerKind::squid, seconds::min()), 0, 10s},
        Case{"SquidWithoutExpires", good(PeerKind::squid), 0, 300s},
        Case{"SquidBuilding", {PeerKind::squid, Polled::building, 0, {}}, 0.9, 10s},
        Case{"OtherFormAtOnce", {PeerKind::unknown, Polled::other_form, 0, {}}, 0.5, 0ms},
        Case{"ResyncAtOnce", {PeerKind::hearsay, Polled::resync, 0, {}}, 0.5, 0ms},
        Case{"FirstFailure", failed(PeerKind::hearsay, 1), 0, 1s},
        Case{"ThirdFailure", failed(PeerKind::unknown, 3), 0, 4s},
        Case{"FailuresCapped", failed(PeerKind::unknown, 6), 0, 30s},
        Case{"ManyFailures", failed(PeerKind::unknown, 4'000'000'000), 0, 30s},
        Case{"HearsayIsBackSoon", failed(PeerKind::hearsay, 4'000'000'000), 0, 2s},
        Case{"FailureJitter", failed(PeerKind::hearsay, 1), 0.5, 950ms},
        Case{"SquidFirstFailure", failed(PeerKind::squid, 1), 0, 1s},
        Case{"SquidSecondFailure", failed(PeerKind::squid, 2), 0, 2s},
        Case{"SquidFailuresCapped", failed(PeerKind::squid, 10), 0, 300s},
        Case{"ANameNotResolved", without_address(failed(PeerKind::squid, 10)), 0, 2s},
        Case{"PauseFromWhenTheAnswerWasDue", failed(PeerKind::hearsay, 1, 400ms), 0, 600ms},
        Case{"AtOnceAfterASilence", failed(PeerKind::squid, 1, 1s), 0, 0ms},
        Case{"LongPauseAfterManySilences", failed(PeerKind::unknown, 9, 5s), 0, 25s}),
    [](const auto& tested) { return tested.param.name; });

TEST(HeldFor, CountsNoLongerThanAsked) {
  EXPECT_EQ(held_for(5s, 3s), 3s);
  EXPECT_EQ(held_for(5s, 8s), 5s) << "the rest is the peer's slowness";
  EXPECT_EQ(held_for(0s, 3s), 0s);
  EXPECT_EQ(held_for(5s, -1ms), 0s);
}

TEST(SilenceOf, IsShortUntilThePeerIsDown) {
  const PollLimits limits;
  EXPECT_EQ(silence_of(limits, 0, 0ms), 1s);
  EXPECT_EQ(silence_of(limits, 1, 400ms), 1s);
  EXPECT_EQ(silence_of(limits, 2, 0ms), 5s) << "it may be slow, and be up again";
  EXPECT_EQ(silence_of({.stall = 1s}, 0, 0ms), 1s);
}

TEST(SilenceOf, KeepsAPeerUpThatAlwaysAnswersLate) {
  const PollLimits limits;
  EXPECT_EQ(silence_of(limits, 0, 1500ms), 3s);
  EXPECT_EQ(silence_of(limits, 1, 4s), 5s);
}

TEST(HoldOf, FollowsAPollThatIsLonger) {
  const PollLimits limits;
  EXPECT_EQ(hold_time(limits, 100ms, 0s), 1s);
  EXPECT_EQ(hold_time(limits, 1s, 0s), 1s);
  EXPECT_EQ(hold_time(limits, 3s, 0s), 3s);
  EXPECT_EQ(hold_time(limits, 1h, 0s), 5s);
}

TEST(HoldOf, IsTwiceAsLongForAPeerThatIsQuiet) {
  const PollLimits limits;
  EXPECT_EQ(hold_time(limits, 1s, 999ms), 1s) << "its digest has changed meanwhile";
  EXPECT_EQ(hold_time(limits, 1s, 1s), 2s);
  EXPECT_EQ(hold_time(limits, 1s, 2s), 2s);
  EXPECT_EQ(hold_time(limits, 3s, 3s), 5s);
  EXPECT_EQ(hold_time(limits, 1h, 5s), 5s);
  EXPECT_EQ(hold_time({.hold = 10s}, 1s, 10s), 10s);
}

// The sum that poll.hpp promises, of a poll that was answered after this time and two that are not.
auto until_down(std::chrono::milliseconds last_held) {
  const PollLimits limits;
  const auto late = next_poll(held(last_held), 1s, 0, kNow) - kNow;
  const auto first = hold_time(limits, 1s, last_held) + silence_of(limits, 0, 0ms);
  const auto again =
      next_poll(failed(PeerKind::hearsay, 1, silence_of(limits, 0, 0ms)), 1s, 0, kNow) - kNow;
  return late + first + again + silence_of(limits, 1, 0ms);
}

TEST(PollLimits, HaveASilentPeerDownWithinFiveSeconds) {
  for (const auto last_held : {0ms, 500ms, 1000ms, 2000ms}) EXPECT_LE(until_down(last_held), 4s);
}

TEST(UsableFor, OutlastsTheLongestGapBetweenTwoGoodPolls) {
  EXPECT_EQ(usable_for(PeerKind::hearsay), 60s);
  EXPECT_EQ(usable_for(PeerKind::unknown), 60s);
  EXPECT_EQ(usable_for(PeerKind::squid), 2h);
}

}  // namespace
}  // namespace peers
