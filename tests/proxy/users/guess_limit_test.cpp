#include "proxy/users/guess_limit.hpp"

#include <gtest/gtest.h>

namespace proxy::users {
namespace {

using namespace std::chrono_literals;

constexpr GuessLimit::Time kBegin{1h};

config::Address client(std::uint32_t number) {
  return config::address_from_v4({10, static_cast<std::uint8_t>(number >> 16),
                                  static_cast<std::uint8_t>(number >> 8),
                                  static_cast<std::uint8_t>(number)});
}

TEST(GuessLimit, AllowsSomeAtOnceAndOneMoreAfterEachPause) {
  GuessLimit limit;
  for (int i = 0; i < GuessLimit::kGuesses; ++i) EXPECT_TRUE(limit.take(client(1), kBegin)) << i;
  EXPECT_FALSE(limit.take(client(1), kBegin));
  EXPECT_FALSE(limit.take(client(1), kBegin + GuessLimit::kPause - 1ms));
  EXPECT_TRUE(limit.take(client(1), kBegin + GuessLimit::kPause));
  EXPECT_FALSE(limit.take(client(1), kBegin + GuessLimit::kPause));
  EXPECT_TRUE(limit.take(client(2), kBegin)) << "another client has its own";
}

TEST(GuessLimit, DoesNotCountWhatWasRight) {
  GuessLimit limit;
  for (int i = 0; i < 5 * GuessLimit::kGuesses; ++i) {
    EXPECT_TRUE(limit.take(client(1), kBegin)) << i;
    limit.give_back(client(1));
  }
}

TEST(GuessLimit, SavesUpNoMoreThanItsGuesses) {
  GuessLimit limit;
  EXPECT_TRUE(limit.take(client(1), kBegin));
  const auto later = kBegin + 24h;
  for (int i = 0; i < GuessLimit::kGuesses; ++i) EXPECT_TRUE(limit.take(client(1), later)) << i;
  EXPECT_FALSE(limit.take(client(1), later));
}

TEST(GuessLimit, RemembersABoundedNumberOfClients) {
  GuessLimit limit;
  for (std::uint32_t i = 0; i < GuessLimit::kMostClients; ++i) {
    EXPECT_TRUE(limit.take(client(i), kBegin));
  }
  EXPECT_FALSE(limit.take(client(100'000), kBegin));
  EXPECT_TRUE(limit.take(client(7), kBegin)) << "those that it knows go on";
  EXPECT_TRUE(limit.take(client(100'000), kBegin + GuessLimit::kPause))
      << "the others are forgotten";
}

}  // namespace
}  // namespace proxy::users
