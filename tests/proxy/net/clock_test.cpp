#include "proxy/net/clock.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace {

using std::chrono::system_clock;
using namespace std::chrono_literals;

TEST(WallClock, IsAFewTicksBehindTheSystemsAtMost) {
  constexpr auto kTicks = 100ms;  // the machine may be busy, and the tick late
  WallClock clock;
  const auto before = system_clock::now();
  const auto now = clock.now();
  EXPECT_GE(now, before - kTicks);
  EXPECT_LE(now, system_clock::now());
}

TEST(WallClock, NeverStepsBack) {
  WallClock clock;
  auto last = clock.now();
  for (int i = 0; i < 100'000; ++i) {
    const auto next = clock.now();
    ASSERT_GE(next, last);
    last = next;
  }
}

}  // namespace
}  // namespace proxy
