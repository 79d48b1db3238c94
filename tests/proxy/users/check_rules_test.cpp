#include "proxy/users/check_rules.hpp"

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

config::Address address_of(std::uint8_t number) {
  return config::address_from_v4({10, 0, 0, number});
}

TEST(Turns, GoFromAddressToAddress) {
  Turns<int> turns;
  EXPECT_FALSE(turns.may_begin_one());
  for (const int work : {10, 11, 12}) EXPECT_TRUE(turns.add(address_of(1), work));
  EXPECT_TRUE(turns.add(address_of(2), 20));
  for (const int work : {10, 20, 11, 12}) {
    ASSERT_TRUE(turns.may_begin_one());
    EXPECT_EQ(turns.next(), work);
    turns.done(address_of(static_cast<std::uint8_t>(work / 10)));
  }
  EXPECT_EQ(turns.next(), std::nullopt);
}

TEST(Turns, LetOnlySomeOfOneAddressBeUnderWay) {
  Turns<int> turns;
  for (const int work : {10, 11, 12}) turns.add(address_of(1), work);
  for (int i = 0; i < Turns<int>::kMostUnderWay; ++i) EXPECT_TRUE(turns.next());
  EXPECT_FALSE(turns.may_begin_one());
  EXPECT_EQ(turns.next(), std::nullopt);
  turns.add(address_of(2), 20);
  EXPECT_EQ(turns.next(), 20);
  turns.done(address_of(1));
  EXPECT_EQ(turns.next(), 12);
}

TEST(Turns, LetOnlySomeWaitInAllAndOfEachAddress) {
  Turns<int> turns;
  std::size_t waiting = 0;
  for (std::uint8_t i = 0; waiting < Turns<int>::kMost; ++i) {
    for (std::size_t one = 0; one < Turns<int>::kMostOfOne; ++one, ++waiting) {
      EXPECT_TRUE(turns.add(address_of(i), 0));
    }
    EXPECT_FALSE(turns.add(address_of(i), 0));
  }
  EXPECT_FALSE(turns.add(address_of(200), 0));
  turns.next();
  EXPECT_TRUE(turns.add(address_of(200), 0));
}

digest::Key key(std::uint32_t number) {
  digest::Key key;
  std::memcpy(key.bytes.data(), &number, sizeof number);
  return key;
}

TEST(PasswordResults, AreKeptWhileTheyAreUsed) {
  PasswordResults results;
  EXPECT_EQ(results.find(key(1), kBegin), std::nullopt);
  results.store(key(1), PasswordResult::right, kBegin);
  results.store(key(2), PasswordResult::wrong, kBegin);
  auto now = kBegin;
  for (int i = 0; i < 3; ++i) {
    now += PasswordResults::kKept - 1s;
    EXPECT_EQ(results.find(key(1), now), PasswordResult::right);
  }
  EXPECT_EQ(results.find(key(2), now), std::nullopt);
  EXPECT_EQ(results.find(key(1), now + PasswordResults::kKept), std::nullopt);
}

TEST(PasswordResults, OfWrongPasswordsMakeNoRoomByTheLossOfRightOnes) {
  PasswordResults results;
  constexpr auto kMost = static_cast<std::uint32_t>(PasswordResults::kMost);
  results.store(key(0), PasswordResult::right, kBegin);
  for (std::uint32_t i = 1; i <= kMost + 1; ++i)
    results.store(key(i), PasswordResult::wrong, kBegin);
  EXPECT_EQ(results.find(key(0), kBegin), PasswordResult::right);
  EXPECT_EQ(results.find(key(1), kBegin), std::nullopt) << "the oldest has made room";
  EXPECT_EQ(results.find(key(2), kBegin), PasswordResult::wrong);
  EXPECT_EQ(results.find(key(kMost + 1), kBegin), PasswordResult::wrong);
}

}  // namespace
}  // namespace proxy::users
