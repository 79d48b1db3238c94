#include "peers/poll.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

namespace peers {
namespace {

using Kept = std::vector<std::size_t>;

TEST(MemoryShares, AreEven) {
  EXPECT_EQ(share_of_each(64, 4), 16U);
  EXPECT_EQ(share_of_each(64, 1), 64U);
  EXPECT_EQ(share_of_each(64, 0), 64U);
}

TEST(MemoryShares, LeaveAPeerWhatTheOthersDoNotUse) {
  EXPECT_EQ(room_for(Kept{0, 0, 0, 0}, 0, 64), 64U);
  EXPECT_EQ(room_for(Kept{10, 20, 0, 0}, 0, 64), 44U) << "its own digest is replaced";
  EXPECT_EQ(room_for(Kept{0, 64, 0, 0}, 0, 64), 16U) << "its share, whatever the others took";
}

TEST(MemoryShares, MakeTheLargestGiveWay) {
  EXPECT_EQ(to_give_way(Kept{16, 40, 8, 0}, 0, 64), std::nullopt);
  EXPECT_EQ(to_give_way(Kept{16, 40, 9, 0}, 0, 64), 1U);
  EXPECT_EQ(to_give_way(Kept{50, 16, 0, 0}, 0, 64), 1U) << "never the newest";
  EXPECT_EQ(to_give_way(Kept{}, 0, 64), std::nullopt);
}

TEST(MemoryShares, NeverTakeThatOfAPeerWhichKeepsToIt) {
  constexpr std::size_t kLimit = 1000;
  std::mt19937 random(1);
  Kept kept(5);
  for (int poll = 0; poll < 10'000; ++poll) {
    const std::size_t peer = random() % kept.size();
    kept[peer] = random() % (room_for(kept, peer, kLimit) + 1);
    while (const auto largest = to_give_way(kept, peer, kLimit)) {
      EXPECT_NE(*largest, peer);
      EXPECT_GT(kept[*largest], share_of_each(kLimit, kept.size()));
      kept[*largest] = 0;
    }
    ASSERT_LE(std::accumulate(kept.begin(), kept.end(), std::size_t{0}), kLimit);
  }
}

}  // namespace
}  // namespace peers
