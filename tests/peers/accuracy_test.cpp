#include "peers/accuracy.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace peers {
namespace {

using namespace std::chrono_literals;

const SteadyTime kNow{1000s};

void record(Accuracy& accuracy, ClaimOutcome outcome, int times, SteadyTime now = kNow) {
  for (int i = 0; i < times; ++i) accuracy.record({outcome, std::nullopt, 0}, now);
}

TEST(Accuracy, CountsEachOutcomeOnce) {
  Accuracy accuracy;
  accuracy.claimed();
  accuracy.claimed();
  accuracy.record({ClaimOutcome::true_hit, 8ms, 500}, kNow);
  accuracy.record({ClaimOutcome::true_hit, 8ms, 20}, kNow);
  accuracy.record({ClaimOutcome::false_hit, 8ms, 0}, kNow);
  record(accuracy, ClaimOutcome::refused, 1);
  record(accuracy, ClaimOutcome::timed_out, 1);
  accuracy.record({ClaimOutcome::broken, 8ms, 7}, kNow);
  const auto books = accuracy.books();
  EXPECT_EQ(books.claims, 2U);
  EXPECT_EQ(books.true_hits, 2U);
  EXPECT_EQ(books.false_hits, 1U);
  EXPECT_EQ(books.failures, 3U);
  EXPECT_EQ(books.bytes_saved, 527U) << "what came before a cut is used, too";
  EXPECT_EQ(books.first_byte, 8ms);
}

TEST(Accuracy, FalseHitsAreTheSumOfTheirCauses) {
  Accuracy accuracy;
  for (std::size_t cause = 0; cause < kFalseHits; ++cause) {
    for (std::size_t times = 0; times <= cause; ++times) {
      accuracy.record({ClaimOutcome::false_hit, std::nullopt, 0, static_cast<FalseHit>(cause)},
                      kNow);
    }
  }
  const auto books = accuracy.books();
  EXPECT_EQ(books.by_cause, (std::array<std::uint64_t, kFalseHits>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(books.false_hits, 36U);
}

TEST(Accuracy, APeerThatGaveWhatNeverWasTheOriginsRestsForLong) {
  Accuracy accuracy;
  record(accuracy, ClaimOutcome::true_hit, 10'000);
  accuracy.checked();
  EXPECT_FALSE(accuracy.resting(kNow));
  accuracy.contradicted(kNow);
  EXPECT_TRUE(accuracy.resting(kNow + kLongestRest - 1ms));
  EXPECT_FALSE(accuracy.resting(kNow + kLongestRest));
  EXPECT_EQ(accuracy.books().checks, 1U);
  EXPECT_EQ(accuracy.books().contradictions, 1U);
}

TEST(Accuracy, ProbesTouchNothingElse) {
  Accuracy accuracy;
  for (int i = 0; i < 200; ++i) accuracy.probed();
  for (int i = 0; i < 50; ++i) accuracy.missed();
  const auto books = accuracy.books();
  EXPECT_EQ(books.probes, 200U);
  EXPECT_EQ(books.false_misses, 50U);
  EXPECT_EQ(accuracy.books().bytes_sent, 0U);
  EXPECT_EQ(books.claims + books.true_hits + books.false_hits + books.failures, 0U);
  EXPECT_EQ(books.first_byte, std::nullopt);
  EXPECT_EQ(accuracy.standing().came_true, 1);
  EXPECT_FALSE(accuracy.resting(kNow));
}

TEST(Accuracy, LookupsAreThoseWhileItsDigestWasInUse) {
  Accuracy accuracy;
  EXPECT_EQ(accuracy.lookups(10), 0U);
  accuracy.begin_use(10);
  EXPECT_EQ(accuracy.lookups(10), 0U);
  accuracy.begin_use(14);  // the peer has a digest again
  EXPECT_EQ(accuracy.lookups(15), 5U);
  accuracy.end_use(20);
  accuracy.end_use(30);
  EXPECT_EQ(accuracy.lookups(40), 10U);
  accuracy.begin_use(50);
  EXPECT_EQ(accuracy.lookups(53), 13U);
}

TEST(Accuracy, FirstByteFollowsAMovingAverage) {
  Accuracy accuracy;
  EXPECT_EQ(accuracy.books().first_byte, std::nullopt);
  accuracy.record({ClaimOutcome::true_hit, 8ms, 0}, kNow);
  accuracy.record({ClaimOutcome::true_hit, 16ms, 0}, kNow);
  EXPECT_EQ(accuracy.books().first_byte, 9ms);
}

TEST(Accuracy, EachKindOfFailureRestsThePeerAndAnAnswerDoesNot) {
  for (const ClaimOutcome outcome : {ClaimOutcome::refused, ClaimOutcome::timed_out,
                                     ClaimOutcome::broken, ClaimOutcome::late_no}) {
    Accuracy accuracy;
    record(accuracy, outcome, 1);
    EXPECT_TRUE(accuracy.resting(kNow + 999ms));
    EXPECT_FALSE(accuracy.resting(kNow + 1s));
  }
  Accuracy accuracy;
  record(accuracy, ClaimOutcome::true_hit, 1);
  record(accuracy, ClaimOutcome::false_hit, 1);
  EXPECT_FALSE(accuracy.resting(kNow));
}

TEST(Accuracy, RestDoublesUpToAMinuteAndATrueHitResetsIt) {
  for (const auto failure : {ClaimOutcome::timed_out, ClaimOutcome::late_no}) {
    Accuracy accuracy;
    SteadyTime now = kNow;
    for (const auto rest : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
      record(accuracy, failure, 1, now);
      EXPECT_TRUE(accuracy.resting(now + rest - 1ms)) << rest.count();
      now += rest;
      EXPECT_FALSE(accuracy.resting(now)) << rest.count();
      record(accuracy, ClaimOutcome::false_hit, 1, now);  // in time: no proof of anything
    }
    record(accuracy, ClaimOutcome::true_hit, 1, now);
    record(accuracy, ClaimOutcome::refused, 1, now);
    EXPECT_FALSE(accuracy.resting(now + 1s));
  }
}

TEST(Accuracy, ALateNoIsAFalseHitAndNoFailure) {
  Accuracy accuracy;
  accuracy.record({ClaimOutcome::late_no, 900ms, 0, FalseHit::gone}, kNow);
  const auto books = accuracy.books();
  EXPECT_EQ(books.false_hits, 1U);
  EXPECT_EQ(books.by_cause[static_cast<std::size_t>(FalseHit::gone)], 1U);
  EXPECT_EQ(books.failures, 0U);
  EXPECT_EQ(books.first_byte, 900ms);
  record(accuracy, ClaimOutcome::late_no, kRecentClaims);
  EXPECT_TRUE(accuracy.resting(kNow + kLongestRest - 1ms)) << "it lies";
}

TEST(Accuracy, FailuresThatWereUnderWayTogetherCountAsOne) {
  Accuracy accuracy;
  record(accuracy, ClaimOutcome::timed_out, 50);
  EXPECT_FALSE(accuracy.resting(kNow + 1s));
  EXPECT_EQ(accuracy.books().failures, 50U);
}

TEST(Accuracy, APeerThatLiesTooOftenIsRestedForAMinute) {
  struct Case {
    const char* name;
    int true_hits;
    int false_hits;
    bool rests;
  };
  for (const Case& c :
       {Case{"four fifths are not more", 25, 100, false}, Case{"one more is", 25, 101, true},
        Case{"too few to judge", 0, 99, false}, Case{"all of 100", 0, 100, true},
        Case{"the truth was long ago", 300, 400, true}}) {
    Accuracy accuracy;
    record(accuracy, ClaimOutcome::true_hit, c.true_hits);
    record(accuracy, ClaimOutcome::false_hit, c.false_hits);
    EXPECT_EQ(accuracy.resting(kNow + 59s), c.rests) << c.name;
    EXPECT_FALSE(accuracy.resting(kNow + 60s)) << c.name;
  }
}

TEST(Accuracy, WhatWasOrMayHaveBeenTrueWhenItWasClaimedIsNoLie) {
  for (const FalseHit cause :
       {FalseHit::gone, FalseHit::stale, FalseHit::variant, FalseHit::unknown, FalseHit::unfit}) {
    Accuracy accuracy;
    for (int i = 0; i < 1000; ++i) {
      accuracy.record({ClaimOutcome::false_hit, std::nullopt, 0, cause}, kNow);
    }
    EXPECT_FALSE(accuracy.resting(kNow)) << to_string(cause);
  }
  for (const FalseHit cause : {FalseHit::absent, FalseHit::refused, FalseHit::untold}) {
    Accuracy accuracy;
    for (int i = 0; i < 100; ++i) {
      accuracy.record({ClaimOutcome::false_hit, std::nullopt, 0, cause}, kNow);
    }
    EXPECT_TRUE(accuracy.resting(kNow)) << to_string(cause);
    const bool refuses = cause == FalseHit::refused;
    EXPECT_EQ(accuracy.books().reason, refuses ? Reason::refuses_us : Reason::lies);
  }
}

TEST(Accuracy, AnAnswerOfSomebodyElseIsAFailureThatIsNewsOnce) {
  Accuracy accuracy;
  EXPECT_TRUE(accuracy.not_a_proxy(kNow));
  EXPECT_FALSE(accuracy.not_a_proxy(kNow + 1s));
  EXPECT_TRUE(accuracy.resting(kNow + kLongestRest));
  EXPECT_EQ(accuracy.books().reason, Reason::not_a_proxy);
  EXPECT_EQ(accuracy.books().failures, 2U);
  EXPECT_TRUE(accuracy.not_a_proxy(kNow + 2 * kLongestRest));
}

TEST(Accuracy, OneThatRefusesUsRestsForLongerEachTimeUntilItServesUs) {
  Accuracy accuracy;
  accuracy.record({ClaimOutcome::refuses_us, std::nullopt, 0}, kNow);
  EXPECT_EQ(accuracy.books().reason, Reason::refuses_us);
  EXPECT_EQ(accuracy.books().by_cause[static_cast<std::size_t>(FalseHit::refused)], 1U);
  accuracy.record({ClaimOutcome::refuses_us, std::nullopt, 0}, kNow + kFirstRest);
  EXPECT_TRUE(accuracy.resting(kNow + 2 * kFirstRest));
  accuracy.record({ClaimOutcome::false_hit, std::nullopt, 0, FalseHit::refused}, kNow + 4s);
  EXPECT_TRUE(accuracy.standing().on_probation) << "it refused that one, too";
  accuracy.record({ClaimOutcome::false_hit, std::nullopt, 0, FalseHit::gone}, kNow + 5s);
  EXPECT_FALSE(accuracy.standing().on_probation);
}

TEST(Accuracy, WhatTheFilterExplainsIsNoLie) {
  Accuracy accuracy;
  for (int i = 0; i < 1000; ++i) {
    accuracy.record({ClaimOutcome::false_hit, std::nullopt, 0, FalseHit::absent, true}, kNow);
  }
  EXPECT_FALSE(accuracy.resting(kNow));
  EXPECT_FALSE(beyond_prediction(10, 0, 0.003)) << "too few to judge";
  EXPECT_TRUE(beyond_prediction(11, 0, 0.003));
  EXPECT_FALSE(beyond_prediction(70, 10'000, 0.003));
  EXPECT_TRUE(beyond_prediction(71, 10'000, 0.003));
}

TEST(Accuracy, AnOutrunPeerIsOnProbationUntilItAnswers) {
  for (const auto answer :
       {ClaimOutcome::true_hit, ClaimOutcome::false_hit, ClaimOutcome::overtaken}) {
    Accuracy accuracy;
    EXPECT_FALSE(accuracy.standing().on_probation);
    accuracy.record({ClaimOutcome::outrun, 50ms, 0}, kNow);
    EXPECT_TRUE(accuracy.standing().on_probation);
    EXPECT_FALSE(accuracy.resting(kNow));
    EXPECT_EQ(accuracy.books().reason, Reason::outrun);
    accuracy.record({answer, 2ms, 0}, kNow);
    EXPECT_FALSE(accuracy.standing().on_probation);
  }
}

TEST(Accuracy, AnOutrunRaisesTheTimeAndNeverLowersIt) {
  Accuracy accuracy;
  accuracy.record({ClaimOutcome::true_hit, 80ms, 0}, kNow);
  accuracy.record({ClaimOutcome::outrun, 8ms, 0}, kNow);
  EXPECT_EQ(accuracy.books().first_byte, 80ms);
  accuracy.record({ClaimOutcome::outrun, 160ms, 0}, kNow + 1s);
  EXPECT_EQ(accuracy.books().first_byte, 90ms);
  EXPECT_EQ(accuracy.standing().measured, kNow + 1s);
  EXPECT_EQ(accuracy.books().outruns, 2U);
}

TEST(Accuracy, SilencesLeaveTheTimeOfItsAnswersAsItIs) {
  struct Case {
    const char* name;
    ClaimOutcome silence;
    std::chrono::milliseconds waited;
    int in_a_row;
  };
  for (const Case& c : {Case{"one in three, beside an origin", ClaimOutcome::outrun, 90ms, 1},
                        Case{"three in four, beside an origin", ClaimOutcome::outrun, 90ms, 3},
                        Case{"until the time-out", ClaimOutcome::timed_out, 1000ms, 1}}) {
    SCOPED_TRACE(c.name);
    Accuracy accuracy;
    for (int round = 0; round < 100; ++round) {
      for (int i = 0; i < 2; ++i) accuracy.record({ClaimOutcome::true_hit, 2ms, 0}, kNow);
      for (int i = 0; i < c.in_a_row; ++i) accuracy.record({c.silence, c.waited, 0}, kNow);
    }
    EXPECT_LT(accuracy.answers().p95(), 3ms);
    EXPECT_GT(accuracy.first_byte().mean(), c.waited / 5) << "it is worth less than others";
  }
}

TEST(Accuracy, AFailureLeavesThePeerOnProbationUntilItBeginsToSendWhatItClaims) {
  Accuracy accuracy;
  record(accuracy, ClaimOutcome::timed_out, 1);
  record(accuracy, ClaimOutcome::false_hit, 1, kNow + 1s);
  EXPECT_TRUE(accuracy.standing().on_probation) << "a quick no is cheap";
  record(accuracy, ClaimOutcome::overtaken, 1, kNow + 1s);
  EXPECT_FALSE(accuracy.standing().on_probation);
}

TEST(Accuracy, OneTrialIsUnderWayAtATime) {
  Accuracy accuracy;
  ASSERT_TRUE(accuracy.probation().begin_trial());
  {
    const Asking asking(accuracy, Trial::yes);
    EXPECT_FALSE(accuracy.probation().begin_trial());
    EXPECT_EQ(accuracy.standing().under_way, 1U);
  }
  EXPECT_EQ(accuracy.standing().under_way, 0U);
  EXPECT_TRUE(accuracy.probation().begin_trial());
}

TEST(Accuracy, ATimeOutCountsAsWhatItTook) {
  Accuracy accuracy;
  accuracy.record({ClaimOutcome::true_hit, 8ms, 0}, kNow);
  accuracy.record({ClaimOutcome::timed_out, 1000ms, 0}, kNow);
  EXPECT_EQ(accuracy.books().first_byte, 132ms);
  accuracy.record({ClaimOutcome::timed_out, 0ms, 0}, kNow + 1h);
  EXPECT_EQ(accuracy.books().first_byte, 132ms) << "it was known to be out of reach";
}

TEST(Accuracy, APeerThatIsBackIsMeasuredAnew) {
  Accuracy accuracy;
  accuracy.record({ClaimOutcome::true_hit, 2ms, 0}, kNow);
  accuracy.polled(kNow);
  accuracy.record({ClaimOutcome::outrun, 900ms, 0}, kNow);
  accuracy.poll_failed(kNow + 1s);
  EXPECT_TRUE(accuracy.standing().first_byte.measured());
  accuracy.polled(kNow + 2s);
  EXPECT_FALSE(accuracy.standing().first_byte.measured()) << "it was stopped, and not slow";
  EXPECT_FALSE(accuracy.answers().measured());
  accuracy.record({ClaimOutcome::true_hit, 2ms, 0}, kNow + 2s);
  accuracy.polled(kNow + 3s);
  EXPECT_EQ(accuracy.books().first_byte, 2ms);
}

TEST(Accuracy, AClaimNeedNotBeAsked) {
  Accuracy accuracy;
  accuracy.claimed();
  accuracy.claimed();
  accuracy.ask();
  EXPECT_EQ(accuracy.books().claims, 2U);
  EXPECT_EQ(accuracy.books().asked, 1U);
}

TEST(Accuracy, WhatWasNeverClaimedIsNeitherATrueNorAFalseHit) {
  Accuracy accuracy;
  accuracy.record({ClaimOutcome::unclaimed_hit, std::nullopt, 100}, kNow);
  accuracy.record({ClaimOutcome::unclaimed_no, 3ms, 0}, kNow);
  const auto books = accuracy.books();
  EXPECT_EQ(books.unclaimed_hits, 1U);
  EXPECT_EQ(books.bytes_saved, 100U);
  EXPECT_EQ(books.first_byte, 3ms);
  EXPECT_EQ(books.true_hits + books.false_hits + books.failures, 0U);
  EXPECT_EQ(accuracy.standing().came_true, 1);
}

TEST(Accuracy, ASlowAnswerLongAgoIsForgottenWhenAQuickOneComes) {
  Accuracy accuracy;
  for (int i = 0; i < 10; ++i) accuracy.record({ClaimOutcome::true_hit, 1ms, 0}, kNow);
  for (int i = 0; i < 2; ++i) accuracy.record({ClaimOutcome::timed_out, 1s, 0}, kNow);
  accuracy.record({ClaimOutcome::true_hit, 1ms, 0}, kNow + kFades - 1ms);
  EXPECT_GT(accuracy.standing().first_byte.mean(), 100ms) << "not so long ago";
  accuracy.record({ClaimOutcome::true_hit, 1ms, 0}, kNow + 2 * kFades);
  EXPECT_EQ(accuracy.standing().first_byte.mean(), 1ms);
}

}  // namespace
}  // namespace peers
