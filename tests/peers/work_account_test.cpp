#include "peers/poll.hpp"

#include <gtest/gtest.h>

namespace peers {
namespace {

using namespace std::chrono_literals;

const SteadyTime kNow{1000s};

TEST(WorkAccount, LetsAHonestNeighbourPollAsItLikes) {
  WorkAccount account;
  SteadyTime now = kNow;
  for (int second = 0; second < 3600; ++second, now += 1s) {
    EXPECT_LE(account.free_at(), now);
    account.charge(10ms, 10'000, now);
  }
}

TEST(WorkAccount, AllowsTwoSecondsOfWorkAtOnce) {
  WorkAccount account;
  account.charge(1900ms, 100'000'000, kNow);  // a nanosecond per byte
  EXPECT_LE(account.free_at(), kNow);
  account.charge(100ms, 0, kNow);
  EXPECT_EQ(account.free_at(), kNow + 5s);
}

// A costly answer at every second poll, and a good one at the others.
TEST(WorkAccount, IsNotSettledByGoodAnswersInBetween) {
  WorkAccount account;
  SteadyTime now = kNow;
  std::chrono::nanoseconds used{0};
  for (int poll = 0; now < kNow + 1h; ++poll) {
    const auto work = poll % 2 == 0 ? 1100ms : 1ms;
    account.charge(work, 0, now);
    used += work;
    now = std::max(now + 1s, account.free_at());
  }
  EXPECT_LT(used, 3s + 3600s / WorkAccount::kShare);
  EXPECT_GT(used, 3600s / WorkAccount::kShare - 2s) << "and the share can be used";
}

TEST(WorkAccount, DebtsAreForgottenInTime) {
  WorkAccount account;
  account.charge(4s, 0, kNow);
  EXPECT_EQ(account.free_at(), kNow + 100s);
  account.charge(2s, 0, kNow + 1h);
  EXPECT_LE(account.free_at(), kNow + 1h);
}

}  // namespace
}  // namespace peers
