#include "peers/probation.hpp"

#include <gtest/gtest.h>

namespace peers {
namespace {

using namespace std::chrono_literals;

const SteadyTime kNow{1h};

TEST(Probation, BeginsWithAFailedPollAndEndsWithAGoodOne) {
  Probation probation;
  EXPECT_FALSE(probation.on());
  probation.polled(true, kNow);
  EXPECT_TRUE(probation.on());
  EXPECT_EQ(probation.reason(), Reason::poll_failed);
  probation.polled(false, kNow + 1s);
  EXPECT_FALSE(probation.on());
}

TEST(Probation, AGoodPollAfterABadOneEndsTheRest) {
  Probation probation;
  probation.fail(Reason::refused, kNow);
  probation.polled(true, kNow);
  EXPECT_TRUE(probation.resting(kNow + 500ms));
  probation.polled(false, kNow + 500ms);
  EXPECT_FALSE(probation.resting(kNow + 500ms)) << "it is back";
  EXPECT_EQ(probation.last_heard(), kNow + 500ms);
}

TEST(Probation, APollFromThePeerEndsTheRestAfterAFailureAndNotTheOneOfALiar) {
  Probation failed;
  failed.fail(Reason::broken, kNow);
  failed.heard(kNow + 1ms);
  EXPECT_FALSE(failed.resting(kNow + 1ms));
  EXPECT_TRUE(failed.on());
  for (const auto lie : {Reason::lies, Reason::contradicted}) {
    Probation liar;
    liar.lie(lie, kNow);
    liar.polled(true, kNow + 1ms);
    liar.heard(kNow + 2ms);
    EXPECT_TRUE(liar.resting(kNow + 2ms));
    EXPECT_EQ(liar.reason(), lie) << "the poll is not why it rests";
  }
}

TEST(Probation, EachRestIsCountedByItsReason) {
  Probation probation;
  probation.fail(Reason::late, kNow);
  probation.fail(Reason::late, kNow + 500ms);  // was under way when the rest began
  probation.fail(Reason::late, kNow + 2s);
  probation.lie(Reason::lies, kNow + 2s);
  EXPECT_EQ(probation.rests(static_cast<std::size_t>(Reason::late)), 2U);
  EXPECT_EQ(probation.rests(static_cast<std::size_t>(Reason::lies)), 1U);
}

}  // namespace
}  // namespace peers
