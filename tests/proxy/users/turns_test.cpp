#include "proxy/users/turns.hpp"

#include <gtest/gtest.h>

namespace proxy::users {
namespace {

config::Address client_at(std::uint8_t number) {
  return config::address_from_v4({10, 0, 0, number});
}

TEST(Turns, GoFromAddressToAddress) {
  Turns<int> turns;
  EXPECT_FALSE(turns.anyone_may_go());
  for (const int work : {10, 11, 12}) EXPECT_TRUE(turns.add(client_at(1), work));
  EXPECT_TRUE(turns.add(client_at(2), 20));
  for (const int work : {10, 20, 11, 12}) {
    ASSERT_TRUE(turns.anyone_may_go());
    EXPECT_EQ(turns.next(), work);
    turns.done(client_at(static_cast<std::uint8_t>(work / 10)));
  }
  EXPECT_EQ(turns.next(), std::nullopt);
}

TEST(Turns, LetOnlySomeOfOneAddressBeUnderWay) {
  Turns<int> turns;
  for (const int work : {10, 11, 12}) turns.add(client_at(1), work);
  for (int i = 0; i < Turns<int>::kMostUnderWay; ++i) EXPECT_TRUE(turns.next());
  EXPECT_FALSE(turns.anyone_may_go());
  EXPECT_EQ(turns.next(), std::nullopt);
  turns.add(client_at(2), 20);
  EXPECT_EQ(turns.next(), 20);
  turns.done(client_at(1));
  EXPECT_EQ(turns.next(), 12);
}

TEST(Turns, LetOnlySomeWaitInAllAndOfEachAddress) {
  Turns<int> turns;
  std::size_t waiting = 0;
  for (std::uint8_t i = 0; waiting < Turns<int>::kMost; ++i) {
    for (std::size_t one = 0; one < Turns<int>::kMostOfOne; ++one, ++waiting) {
      EXPECT_TRUE(turns.add(client_at(i), 0));
    }
    EXPECT_FALSE(turns.add(client_at(i), 0));
  }
  EXPECT_FALSE(turns.add(client_at(200), 0));
  turns.next();
  EXPECT_TRUE(turns.add(client_at(200), 0));
}

}  // namespace
}  // namespace proxy::users
