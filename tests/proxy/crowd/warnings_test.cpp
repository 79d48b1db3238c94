#include "proxy/crowd/warnings.hpp"

#include <gtest/gtest.h>

namespace proxy::crowd {
namespace {

using namespace std::chrono_literals;

const Warnings::Time kNow{1000s};

TEST(Warnings, AShortageEndsOnceThereWasNoneForAMinute) {
  Warnings warnings;
  EXPECT_TRUE(warnings.ended(kNow).empty());
  warnings.warn(Shortage::connections, kNow);
  warnings.warn(Shortage::connections, kNow + 30s);
  EXPECT_TRUE(warnings.lately(Shortage::connections, kNow + 90s));
  EXPECT_TRUE(warnings.ended(kNow + 90s).empty());
  EXPECT_FALSE(warnings.lately(Shortage::connections, kNow + 91s));
  EXPECT_EQ(warnings.ended(kNow + 91s), std::vector{Shortage::connections});
  EXPECT_TRUE(warnings.ended(kNow + 92s).empty()) << "it is named once";
  warnings.warn(Shortage::connections, kNow + 100s);
  EXPECT_EQ(warnings.ended(kNow + 161s), std::vector{Shortage::connections}) << "the next one";
}

}  // namespace
}  // namespace proxy::crowd
