#include "peers/threads/alarm.hpp"

#include <gtest/gtest.h>
#include <poll.h>

namespace threads {
namespace {

bool wakes(const Alarm& alarm) {
  pollfd waiting{.fd = alarm.descriptor(), .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, 0) == 1;
}

TEST(Alarm, WakesItsSleeperOnceForAllThatRings) {
  Alarm alarm;
  alarm.set();
  EXPECT_FALSE(wakes(alarm));
  alarm.ring();
  alarm.ring();
  EXPECT_TRUE(wakes(alarm));
  EXPECT_TRUE(alarm.rang());
  EXPECT_FALSE(alarm.rang());
  EXPECT_FALSE(wakes(alarm));
}

TEST(Alarm, IsSilentUntilItIsSet) {
  Alarm alarm;
  alarm.ring();
  EXPECT_FALSE(wakes(alarm));
  alarm.set();
  EXPECT_FALSE(wakes(alarm)) << "what rang before the sleeper looked has been seen";
  alarm.ring();
  EXPECT_TRUE(alarm.rang());
  alarm.ring();
  EXPECT_FALSE(wakes(alarm)) << "it is set once for each look";
}

TEST(Alarm, IsSilentOnceItIsTurnedOff) {
  Alarm alarm;
  alarm.set();
  alarm.unset();
  alarm.ring();
  EXPECT_FALSE(alarm.rang());
}

}  // namespace
}  // namespace threads
