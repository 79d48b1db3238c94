#include "peers/site.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/peers/samples.hpp"

namespace peers {
namespace {

using samples::key;

std::string name(int number) {
  return "key " + std::to_string(number);
}

std::size_t owner_of(const digest::Key& key, const std::vector<Epoch>& members) {
  std::size_t owner = 0;
  for (std::size_t i = 1; i < members.size(); ++i) {
    if (bid_for(key, members[i]) > bid_for(key, members[owner])) owner = i;
  }
  return owner;
}

TEST(Site, ReadsAnEpochOnlyFromExactlySixteenDigits) {
  EXPECT_EQ(to_text(0xABC), "0000000000000abc");
  EXPECT_EQ(parse_epoch("0000000000000abc"), Epoch{0xABC});
  EXPECT_EQ(parse_epoch("ffffffffffffffff"), ~Epoch{0});
  for (const char* text : {"", "abc", "0000000000000ABC", "0x00000000000abc", "00000000000000abc",
                           "-000000000000abc", " 00000000000abc "}) {
    EXPECT_EQ(parse_epoch(text), std::nullopt) << text;
  }
}

TEST(Site, ReadsAQuestionWithTheMembersThatTheAskerHasGivenUp) {
  const std::string a = "000000000000000a";
  const std::string b = "000000000000000b";
  EXPECT_EQ(to_text(SiteQuestion{0xa}), a) << "as every version takes it";
  EXPECT_EQ(to_text(SiteQuestion{0xa, {0xb, 0xc}}), a + ", " + b + ", 000000000000000c");
  EXPECT_EQ(parse_site_question(a), SiteQuestion{0xa});
  EXPECT_EQ(parse_site_question(a + " ,\t" + b), (SiteQuestion{0xa, {0xb}}));
  EXPECT_EQ(parse_site_question(a + ", x, " + b), (SiteQuestion{0xa, {0xb}}));
  EXPECT_EQ(parse_site_question(a + ", x, " + b + ", " + a), (SiteQuestion{0xa, {0xb, 0xa}}));
  EXPECT_EQ(parse_site_question(a + "," + b + "," + b + "," + a), (SiteQuestion{0xa, {0xb, 0xb}}));
  for (const auto& text : {std::string(), std::string("x"), ", " + a, "x, " + a}) {
    EXPECT_EQ(parse_site_question(text), std::nullopt) << text;
  }
}

// All members must compute the same owner, whatever version they run.
TEST(Site, BidsAreThoseOfTheFirstVersion) {
  digest::Key zeros{};
  EXPECT_EQ(to_text(bid_for(zeros, 0)), "0000000000000000");
  EXPECT_EQ(to_text(bid_for(zeros, 1)), "7ab40e090f363a7d");
  zeros.bytes[0] = 1;
  EXPECT_EQ(to_text(bid_for(zeros, 0)), "5692161d100b05e5");
}

TEST(Site, OwnersAreSpreadEvenlyAndFewChangeWhenAMemberLeaves) {
  constexpr int kKeys = 20'000;
  std::vector<Epoch> members{0x1111, 0x2222, 0x3333, 0x4444, 0x5555};
  std::array<int, 5> owned{};
  int moved = 0;
  auto without_last = members;
  without_last.pop_back();
  for (int i = 0; i < kKeys; ++i) {
    const auto owner = owner_of(key(name(i).c_str()), members);
    ++owned[owner];
    if (owner < 4 && owner_of(key(name(i).c_str()), without_last) != owner) ++moved;
  }
  for (const int count : owned) EXPECT_NEAR(count, kKeys / 5, 300);  // over five deviations
  EXPECT_EQ(moved, 0);
}

}  // namespace
}  // namespace peers
