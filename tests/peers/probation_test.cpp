#include "peers/accuracy.hpp"

#include <gtest/gtest.h>

namespace peers {
namespace {

using namespace std::chrono_literals;

const SteadyTime kToday{1h};

TEST(Probation, BeginsWithAFailedPollAndEndsWithAGoodOne) {
  Probation probation;
  EXPECT_FALSE(probation.on());
  probation.poll_failed(kToday);
  EXPECT_TRUE(probation.on());
  EXPECT_EQ(probation.reason(), Reason::poll_failed);
  probation.polled(kToday + 1s);
  EXPECT_FALSE(probation.on());
}

TEST(Probation, ANameThatIsNotResolvedRestsThePeerWithoutAReason) {
  Probation probation;
  probation.unresolved(kToday);
  EXPECT_TRUE(probation.resting(kToday + kFirstRest - 1ms));
  EXPECT_FALSE(probation.resting(kToday + kFirstRest));
  EXPECT_FALSE(probation.on()) << "no failure of its own";
  EXPECT_EQ(probation.reason(), Reason::none);
  Probation liar;
  liar.lie(Reason::lies, kToday);
  liar.unresolved(kToday);
  EXPECT_TRUE(liar.resting(kToday + kFirstRest)) << "ends no longer rest";
  EXPECT_EQ(liar.reason(), Reason::lies);
}

TEST(Probation, AGoodPollAfterABadOneEndsTheRest) {
  Probation probation;
  probation.fail(Reason::refused, kToday);
  probation.poll_failed(kToday);
  EXPECT_TRUE(probation.resting(kToday + 500ms));
  probation.polled(kToday + 500ms);
  EXPECT_FALSE(probation.resting(kToday + 500ms)) << "it is back";
  EXPECT_EQ(probation.last_heard(), kToday + 500ms);
}

TEST(Probation, APollFromThePeerEndsTheRestAfterAFailureAndNotTheOneOfALiar) {
  Probation failed;
  failed.fail(Reason::refused, kToday);
  failed.heard(kToday + 1ms);
  EXPECT_FALSE(failed.resting(kToday + 1ms));
  EXPECT_TRUE(failed.on());
  for (const auto lie : {Reason::lies, Reason::contradicted, Reason::not_a_proxy}) {
    Probation liar;
    liar.lie(lie, kToday);
    liar.poll_failed(kToday + 1ms);
    liar.heard(kToday + 2ms);
    EXPECT_TRUE(liar.resting(kToday + 2ms));
    EXPECT_EQ(liar.reason(), lie) << "the poll is not why it rests";
  }
}

TEST(Probation, AGoodPollAfterABadOneEndsTheRestForWhatSomebodyElseHasAnswered) {
  Probation probation;
  probation.lie(Reason::not_a_proxy, kToday);
  probation.polled(kToday + 1ms);
  EXPECT_TRUE(probation.resting(kToday + 1ms))
      << "an answer was not its own although its polls are";
  probation.poll_failed(kToday + 2ms);
  probation.polled(kToday + 3ms);
  EXPECT_FALSE(probation.resting(kToday + 3ms));
  EXPECT_FALSE(probation.on());
}

TEST(Probation, OneThatRefusesUsRestsWhateverItPollsUntilItServesUs) {
  Probation probation;
  probation.fail(Reason::refuses_us, kToday);
  probation.heard(kToday + 1ms);
  EXPECT_TRUE(probation.resting(kToday + 1ms));
  EXPECT_TRUE(probation.on());
  probation.serves_us();
  EXPECT_FALSE(probation.on());
  probation.fail(Reason::refused, kToday + 1h);
  probation.serves_us();
  EXPECT_TRUE(probation.on()) << "a no is no proof that it sends what it claims";
}

TEST(Probation, NeitherAPollNorABeginningEndsTheRestOfOneWhoseAnswersBreakOff) {
  Probation probation;
  probation.fail(Reason::broken, kToday);
  probation.heard(kToday + 1ms);
  EXPECT_TRUE(probation.resting(kToday + 1ms));
  probation.begin_to_send();
  EXPECT_TRUE(probation.on());
  probation.fail(Reason::broken, kToday + kFirstRest);
  EXPECT_TRUE(probation.resting(kToday + kFirstRest + 1999ms)) << "the rest doubles";
  probation.prove();
  EXPECT_FALSE(probation.on());
}

TEST(Probation, EachRestIsCountedByItsReason) {
  Probation probation;
  probation.fail(Reason::late, kToday);
  probation.fail(Reason::late, kToday + 500ms);  // was under way when the rest began
  probation.fail(Reason::late, kToday + 2s);
  probation.lie(Reason::lies, kToday + 2s);
  EXPECT_EQ(probation.rests(static_cast<std::size_t>(Reason::late)), 2U);
  EXPECT_EQ(probation.rests(static_cast<std::size_t>(Reason::lies)), 1U);
}

}  // namespace
}  // namespace peers
