#include "proxy/upstream/known_answers.hpp"

#include <gtest/gtest.h>

namespace proxy::upstream {
namespace {

using std::chrono::seconds;

TEST(KnownAnswers, AreAskedForByOneAtATime) {
  KnownAnswers answers;
  {
    KnownAnswers::Asking first(answers, "a");
    KnownAnswers::Asking second(answers, "a");
    KnownAnswers::Asking other(answers, "b");
    EXPECT_TRUE(first.begin());
    EXPECT_FALSE(second.begin());
    EXPECT_TRUE(other.begin());
  }
  EXPECT_TRUE(KnownAnswers::Asking(answers, "a").begin());
}

TEST(KnownAnswers, LastUntilTheirTime) {
  KnownAnswers answers;
  const KnownAnswers::Time now{seconds(1000)};
  EXPECT_FALSE(answers.find("a", now));
  KnownAnswers::Asking asking(answers, "a");
  asking.record({"text", now}, now + seconds(10));
  const auto known = answers.find("a", now + seconds(9));
  ASSERT_TRUE(known);
  EXPECT_EQ(known->text, "text");
  EXPECT_EQ(known->asked, now);
  EXPECT_FALSE(answers.find("a", now + seconds(10)));
}

TEST(KnownAnswers, AreForgottenInTurnIfAllLastAsLong) {
  KnownAnswers answers;
  const auto time_of = [](std::size_t i) { return KnownAnswers::Time{seconds(i)}; };
  const auto lasts = std::chrono::hours(24);
  for (std::size_t i = 0; i <= KnownAnswers::kMost; ++i)
    answers.record(std::to_string(i), {"text", time_of(i)}, time_of(i) + lasts);
  const auto now = time_of(KnownAnswers::kMost);
  EXPECT_FALSE(answers.find("0", now));
  EXPECT_TRUE(answers.find("1", now));
  EXPECT_TRUE(answers.find(std::to_string(KnownAnswers::kMost), now));
}

}  // namespace
}  // namespace proxy::upstream
