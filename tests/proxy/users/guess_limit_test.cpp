#include "proxy/users/guess_limit.hpp"

#include <gtest/gtest.h>

namespace proxy::users {
namespace {

using namespace std::chrono_literals;

constexpr GuessLimit::Time kBegin{1h};

Guesser client(std::uint32_t number) {
  return {config::address_from_v4({10, static_cast<std::uint8_t>(number >> 16),
                                   static_cast<std::uint8_t>(number >> 8),
                                   static_cast<std::uint8_t>(number)}),
          std::nullopt};
}

// A wrong guess, if the client may make one.
bool guess(GuessLimit& limit, const Guesser& who, GuessLimit::Time now) {
  const bool may = limit.may_guess(who, now);
  if (may) limit.charge(who, now);
  return may;
}

TEST(GuessLimit, AllowsSomeAtOnceAndOneMoreAfterEachPause) {
  GuessLimit limit;
  for (int i = 0; i < GuessLimit::kGuesses; ++i) EXPECT_TRUE(guess(limit, client(1), kBegin)) << i;
  EXPECT_FALSE(guess(limit, client(1), kBegin));
  EXPECT_FALSE(guess(limit, client(1), kBegin + GuessLimit::kPause - 1ms));
  EXPECT_TRUE(guess(limit, client(1), kBegin + GuessLimit::kPause));
  EXPECT_FALSE(guess(limit, client(1), kBegin + GuessLimit::kPause));
  EXPECT_TRUE(guess(limit, client(2), kBegin)) << "another client has its own";
}

TEST(GuessLimit, DoesNotCountWhatIsNotCharged) {
  GuessLimit limit;
  for (int i = 0; i < 5 * GuessLimit::kGuesses; ++i) {
    EXPECT_TRUE(limit.may_guess(client(1), kBegin)) << i;
  }
}

TEST(GuessLimit, SavesUpNoMoreThanItsGuesses) {
  GuessLimit limit;
  EXPECT_TRUE(guess(limit, client(1), kBegin));
  const auto later = kBegin + 24h;
  for (int i = 0; i < GuessLimit::kGuesses; ++i) EXPECT_TRUE(guess(limit, client(1), later)) << i;
  EXPECT_FALSE(guess(limit, client(1), later));
}

TEST(GuessLimit, BoundsTheGuessesOfAllAddressesOfANetwork) {
  GuessLimit limit;
  constexpr std::uint32_t kMost = GuessLimit::kGuesses * GuessLimit::kOfNetwork;
  const auto member = [](std::uint32_t number, std::uint8_t network) {
    auto who = client(number);
    who.network = config::Address{0xfd, network};
    return who;
  };
  for (std::uint32_t i = 0; i < kMost; ++i) EXPECT_TRUE(guess(limit, member(i, 1), kBegin)) << i;
  EXPECT_FALSE(guess(limit, member(kMost, 1), kBegin));
  EXPECT_TRUE(guess(limit, member(kMost, 2), kBegin)) << "another network has its own";
  const auto later =
      kBegin + std::chrono::milliseconds(GuessLimit::kPause) / GuessLimit::kOfNetwork;
  EXPECT_TRUE(guess(limit, member(kMost, 1), later));
}

TEST(GuessLimit, RemembersABoundedNumberOfClients) {
  GuessLimit limit;
  for (std::uint32_t i = 0; i < GuessLimit::kMostClients; ++i) {
    EXPECT_TRUE(guess(limit, client(i), kBegin));
  }
  EXPECT_FALSE(guess(limit, client(100'000), kBegin));
  EXPECT_TRUE(guess(limit, client(7), kBegin)) << "those that it knows go on";
  EXPECT_TRUE(guess(limit, client(100'000), kBegin + GuessLimit::kPause))
      << "the others are forgotten";
}

}  // namespace
}  // namespace proxy::users
