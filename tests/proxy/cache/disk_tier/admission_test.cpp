// What the disk's tier decides without a disk: what is written, and who reads.
#include <gtest/gtest.h>

#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

const digest::Key kAsked = key_of("http://a/");
const digest::Key kOther = key_of("http://b/");

TEST(Admission, IsAtTheFirstRequestOrAtTheSecond) {
  struct Case {
    Admit at;
    int requests;
    bool admitted;
  };
  for (const auto& c : {Case{Admit::first, 0, true}, Case{Admit::first, 1, true},
                        Case{Admit::second, 0, false}, Case{Admit::second, 1, false},
                        Case{Admit::second, 2, true}, Case{Admit::second, 9, true}}) {
    Budget budget(1 << 20);
    Admission admission(budget, c.at);
    for (int i = 0; i < c.requests; ++i) admission.record_asked(kAsked);
    EXPECT_EQ(admission.admits(kAsked), c.admitted) << c.requests;
    EXPECT_EQ(admission.admits(kOther), c.at == Admit::first);
    EXPECT_EQ(admission.is_on_second(), c.at == Admit::second);
  }
}

TEST(Admission, KeepsItsCountsWhileItAdmitsAll) {
  Budget budget(1 << 20);
  Admission admission(budget, Admit::second);
  for (int i = 0; i < 2; ++i) admission.record_asked(kAsked);
  admission.apply(Admit::first);
  EXPECT_TRUE(admission.admits(kOther));
  admission.apply(Admit::second);
  EXPECT_TRUE(admission.admits(kAsked));
  EXPECT_FALSE(admission.admits(kOther));
}

TEST(Readings, LetOneReadAndTellTheOthersWhenItIsOver) {
  Readings readings;
  int told = 0;
  const auto over = [&told] { ++told; };
  auto right = readings.begin(kAsked, over);
  ASSERT_TRUE(right);
  EXPECT_FALSE(readings.begin(kAsked, over));
  EXPECT_FALSE(readings.begin(kAsked, over));
  EXPECT_TRUE(readings.begin(kOther, over)) << "of another key";
  EXPECT_EQ(told, 0);
  right.reset();
  EXPECT_EQ(told, 2);
  EXPECT_TRUE(readings.begin(kAsked, over)) << "once more";
  EXPECT_EQ(told, 2) << "nobody waited";
}

}  // namespace
}  // namespace proxy::cache
