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

}  // namespace
}  // namespace proxy::upstream
