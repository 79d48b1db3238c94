#include "digest/rule.hpp"

#include <gtest/gtest.h>

namespace digest {
namespace {

// Wire format: neighbours of another version must make the same numbers and keys.
TEST(Rule, HasTheHashAndTheKeysThatNeighboursCompute) {
  EXPECT_EQ(rule_hash("hearsay-rule 1 min_fresh=2592000 max_fresh=2147483648 authorization=heed"),
            0x2bf68b35cbcd21e9U);
  const Key key = key_of(Method::get, "http://example.com/");
  EXPECT_EQ(to_hex(under_rule(key, 7)), "8d2602691064bdb63178157fa80d212c");
  EXPECT_EQ(kOfPart, 4095);
}

TEST(Rule, LeavesAKeyAsItIsWithoutAMark) {
  const Key key = key_of(Method::get, "http://example.com/");
  EXPECT_EQ(under_rule(key, 0), key);
  EXPECT_NE(under_rule(key, 1), under_rule(key, 2));
  EXPECT_EQ((Claim{key, 3}.in_digest()), under_rule(key, 3));
  EXPECT_TRUE(Claim{key}.is_for_all());
}

TEST(Rule, HasAMarkIfItHasAHash) {
  EXPECT_EQ(mark_of(0), 0);
  EXPECT_EQ(mark_of(0xf007), 7);
  EXPECT_EQ(mark_of(0xf000), 1);
  EXPECT_EQ(mark_of(0xf000 + kOfPart), 1) << "the mark of parts is no rule's";
}

}  // namespace
}  // namespace digest
