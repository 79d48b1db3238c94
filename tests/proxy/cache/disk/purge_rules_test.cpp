#include "proxy/cache/disk/purge_rules.hpp"

#include <gtest/gtest.h>

namespace proxy::cache::disk {
namespace {

using Added = PurgeRules::Added;

TEST(DiskPurgeRules, CoversLaterEntriesUntilItsRecordIsWritten) {
  PurgeRules rules;
  EXPECT_FALSE(rules.purged("http://a.example/1", {1, 32}));
  ASSERT_EQ(rules.add("http://a.example/"), Added::yes);
  EXPECT_TRUE(rules.purged("http://a.example/1", {9, 9}));
  EXPECT_FALSE(rules.purged("http://b.example/1", {1, 32}));
  EXPECT_FALSE(rules.newest());
  rules.settle("http://a.example/", {5, 64});
  EXPECT_TRUE(rules.purged("http://a.example/1", {5, 48}));
  EXPECT_FALSE(rules.purged("http://a.example/1", {5, 64}));
  EXPECT_EQ(rules.newest(), (Position{5, 64}));
}

TEST(DiskPurgeRules, ASecondPurgeOfAPrefixReachesFurther) {
  PurgeRules rules;
  ASSERT_EQ(rules.add("http://a.example/"), Added::yes);
  ASSERT_EQ(rules.add("http://a.example/"), Added::yes);
  EXPECT_EQ(rules.count(), 1U);
  rules.settle("http://a.example/", {5, 64});
  EXPECT_TRUE(rules.purged("http://a.example/1", {6, 32})) << "the second is on its way";
  rules.settle("http://a.example/", {7, 64});
  EXPECT_TRUE(rules.purged("http://a.example/1", {6, 32}));
  EXPECT_FALSE(rules.purged("http://a.example/1", {7, 80}));
}

TEST(DiskPurgeRules, ALearnedRuleDoesNotSettleAnAddedOne) {
  PurgeRules rules;
  ASSERT_EQ(rules.add("http://a/"), Added::yes);
  rules.learn("http://a/", {1, 100});
  EXPECT_TRUE(rules.purged("http://a/1", {1, 200}));
  rules.settle("http://a/", {1, 300});
  EXPECT_TRUE(rules.purged("http://a/1", {1, 200}));
  EXPECT_FALSE(rules.purged("http://a/1", {1, 300}));
}

TEST(DiskPurgeRules, AWithdrawnRuleDoesNotCount) {
  PurgeRules rules;
  ASSERT_EQ(rules.add("http://a/"), Added::yes);
  ASSERT_EQ(rules.add("http://b/"), Added::yes);
  rules.settle("http://b/", {1, 100});
  ASSERT_EQ(rules.add("http://b/"), Added::yes);
  rules.withdraw("http://a/");
  rules.withdraw("http://b/");
  EXPECT_FALSE(rules.purged("http://a/1", {1, 50}));
  EXPECT_TRUE(rules.purged("http://b/1", {1, 50})) << "by the one before";
  EXPECT_FALSE(rules.purged("http://b/1", {1, 100}));
  EXPECT_EQ(rules.count(), 1U);
}

TEST(DiskPurgeRules, ForgetsWhatIsGoneOrSearched) {
  PurgeRules rules;
  rules.settle("http://a.example/", {5, 64});
  rules.settle("http://b.example/", {6, 64});
  ASSERT_EQ(rules.add("http://c.example/"), Added::yes);
  rules.forget_before({6, 0});
  EXPECT_FALSE(rules.purged("http://a.example/1", {1, 32}));
  EXPECT_TRUE(rules.purged("http://b.example/1", {1, 32}));
  rules.forget_before({9, 0});
  EXPECT_EQ(rules.count(), 1U) << "one that is on its way stays";
}

TEST(DiskPurgeRules, AreBounded) {
  PurgeRules rules;
  for (std::size_t i = 0; i < PurgeRules::kMost; ++i) {
    ASSERT_EQ(rules.add("http://" + std::to_string(i) + ".example/"), Added::yes);
  }
  EXPECT_EQ(rules.add("http://one.more.example/"), Added::too_many);
}

TEST(DiskPurgeRules, HaveRoomForAFewThatMustNotBeRefused) {
  PurgeRules rules;
  for (std::size_t i = 0; i < PurgeRules::kMost; ++i) {
    ASSERT_EQ(rules.add("http://" + std::to_string(i) + ".example/"), Added::yes);
  }
  const auto add = [&](std::size_t giver) {
    return rules.add("giver:" + std::to_string(giver), PurgeRules::Room::reserved);
  };
  for (std::size_t giver = 0; giver < PurgeRules::kReserved; ++giver) {
    EXPECT_EQ(add(giver), Added::yes) << giver;
  }
  EXPECT_TRUE(rules.purged("giver:7", {1, 64}));
  EXPECT_EQ(add(7), Added::yes) << "again";
  EXPECT_EQ(add(PurgeRules::kReserved), Added::too_many);
  EXPECT_EQ(rules.add("http://one.more.example/"), Added::too_many);
}

}  // namespace
}  // namespace proxy::cache::disk
