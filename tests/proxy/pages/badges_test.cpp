#include "proxy/pages/badges.hpp"

#include <gtest/gtest.h>

#include <set>

namespace proxy::pages {
namespace {

using namespace std::chrono_literals;

const Badges::Time kIssued{1000h};
const config::Address kHere = config::address_from_v4({10, 0, 0, 1});

std::string signed_in(Badges& badges, Badges::Time now = kIssued) {
  return badges.redeem(badges.issue_ticket(now), kHere, now).value();
}

TEST(Badges, AreGivenForATicketOnce) {
  Badges badges;
  const auto ticket = badges.issue_ticket(kIssued);
  EXPECT_FALSE(badges.counts(ticket, kHere, kIssued)) << "a ticket is no badge";
  const auto badge = badges.redeem(ticket, kHere, kIssued);
  ASSERT_TRUE(badge);
  EXPECT_NE(*badge, ticket);
  EXPECT_TRUE(badges.counts(*badge, kHere, kIssued));
  EXPECT_FALSE(badges.redeem(ticket, kHere, kIssued));
  EXPECT_FALSE(badges.redeem(*badge, kHere, kIssued)) << "a badge is no ticket";
}

// A browser shows its cookies to all servers of a host, whatever their port.
TEST(Badges, CountFromTheAddressOfTheBrowserAlone) {
  Badges badges;
  const auto badge = signed_in(badges);
  EXPECT_TRUE(badges.counts(badge, kHere, kIssued));
  EXPECT_FALSE(badges.counts(badge, config::address_from_v4({10, 0, 0, 2}), kIssued));
}

TEST(Badges, LastForTwelveHoursAndTicketsForTenMinutes) {
  Badges badges;
  const auto late = badges.issue_ticket(kIssued);
  EXPECT_FALSE(badges.redeem(late, kHere, kIssued + 10min));
  EXPECT_FALSE(badges.redeem(late, kHere, kIssued)) << "it is gone";
  const auto badge = badges.redeem(badges.issue_ticket(kIssued), kHere, kIssued + 599s).value();
  EXPECT_TRUE(badges.counts(badge, kHere, kIssued + 599s + 12h - 1ms));
  EXPECT_FALSE(badges.counts(badge, kHere, kIssued + 599s + 12h));
}

TEST(Badges, AreNoOtherTexts) {
  Badges badges;
  const auto badge = signed_in(badges);
  EXPECT_EQ(badge.size(), Badges::kLength);
  EXPECT_EQ(badge.find_first_not_of("0123456789abcdef"), std::string::npos);
  auto other = badge;
  other.back() = other.back() == '0' ? '1' : '0';
  for (const auto& text : {std::string(), other, badge + "0", badge.substr(1), "0" + badge}) {
    EXPECT_FALSE(badges.counts(text, kHere, kIssued)) << text;
  }
}

TEST(Badges, AreAllDifferent) {
  Badges badges;
  std::set<std::string> all;
  for (int i = 0; i < 50; ++i) all.insert(badges.issue_ticket(kIssued));
  EXPECT_EQ(all.size(), 50U);
}

TEST(Badges, AreBoundedSoThatTheOldestEnds) {
  Badges badges;
  const auto first = badges.issue_ticket(kIssued);
  const auto second = badges.issue_ticket(kIssued);
  for (std::size_t i = 1; i < Badges::kMostTickets; ++i) (void)badges.issue_ticket(kIssued);
  EXPECT_FALSE(badges.redeem(first, kHere, kIssued));
  EXPECT_TRUE(badges.redeem(second, kHere, kIssued));
  Badges many;
  const auto oldest = signed_in(many);
  const auto next = signed_in(many);
  for (std::size_t i = 1; i < Badges::kMostBadges; ++i) signed_in(many);
  EXPECT_FALSE(many.counts(oldest, kHere, kIssued));
  EXPECT_TRUE(many.counts(next, kHere, kIssued));
}

TEST(Badges, EndOneByOneOrAllTogetherWithTheTickets) {
  Badges badges;
  const auto one = signed_in(badges);
  const auto other = signed_in(badges);
  badges.remove(one);
  EXPECT_FALSE(badges.counts(one, kHere, kIssued));
  EXPECT_TRUE(badges.counts(other, kHere, kIssued));
  const auto old = signed_in(badges, kIssued - 13h);
  const auto ticket = badges.issue_ticket(kIssued);
  EXPECT_EQ(badges.revoke(kIssued), 1U) << "the old one had ended by itself";
  EXPECT_FALSE(badges.counts(other, kHere, kIssued));
  EXPECT_FALSE(badges.redeem(ticket, kHere, kIssued));
}

}  // namespace
}  // namespace proxy::pages
