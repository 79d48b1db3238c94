#include "proxy/users/verdicts.hpp"

#include <gtest/gtest.h>

namespace proxy::users {
namespace {

using namespace std::chrono_literals;

constexpr Verdicts::Time kStart{1h};

digest::Key key(std::uint32_t number) {
  digest::Key key;
  std::memcpy(key.bytes.data(), &number, sizeof number);
  return key;
}

TEST(Verdicts, AreKeptWhileTheyAreUsed) {
  Verdicts verdicts;
  EXPECT_EQ(verdicts.find(key(1), kStart), std::nullopt);
  verdicts.add(key(1), true, kStart);
  verdicts.add(key(2), false, kStart);
  auto now = kStart;
  for (int i = 0; i < 3; ++i) {
    now += Verdicts::kKept - 1s;
    EXPECT_EQ(verdicts.find(key(1), now), true);
  }
  EXPECT_EQ(verdicts.find(key(2), now), std::nullopt);
  EXPECT_EQ(verdicts.find(key(1), now + Verdicts::kKept), std::nullopt);
}

TEST(Verdicts, OfWrongPasswordsMakeNoRoomByTheLossOfRightOnes) {
  Verdicts verdicts;
  constexpr auto kMost = static_cast<std::uint32_t>(Verdicts::kMost);
  verdicts.add(key(0), true, kStart);
  for (std::uint32_t i = 1; i <= kMost + 1; ++i) verdicts.add(key(i), false, kStart);
  EXPECT_EQ(verdicts.find(key(0), kStart), true);
  EXPECT_EQ(verdicts.find(key(1), kStart), std::nullopt) << "the oldest has made room";
  EXPECT_EQ(verdicts.find(key(2), kStart), false);
  EXPECT_EQ(verdicts.find(key(kMost + 1), kStart), false);
}

}  // namespace
}  // namespace proxy::users
