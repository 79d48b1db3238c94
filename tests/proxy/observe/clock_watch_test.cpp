#include "proxy/observe/watch.hpp"

#include <gtest/gtest.h>

namespace proxy::observe {
namespace {

using namespace std::chrono_literals;

TEST(ClockStep, IsToldWithItsDirectionSizeAndTime) {
  const machine::Clock::Time seen{1000h};
  EXPECT_EQ(step_text({-7200s, seen}), "the clock of this machine was set back by 2 hours");
  EXPECT_EQ(step_text({1600ms, seen}), "the clock of this machine was set ahead by 2 s");
  EXPECT_EQ(doubt_text({-7200s, seen}, seen + 3h),
            "the clock of this machine was set back by 2 hours, 3 hours ago: the ages of "
            "responses that were stored before are doubtful");
}

}  // namespace
}  // namespace proxy::observe
