#include "proxy/command/progress.hpp"

#include <gtest/gtest.h>

namespace proxy::command {
namespace {

TEST(Progress, SaysHowFarAndHowFast) {
  EXPECT_EQ(progress_text("counting f", 50, 200, 3'000'000, std::chrono::seconds(2)),
            "counting f: 25 %, 3.0 M lines, 1.5 M/s");
  EXPECT_EQ(progress_text("reading", 50, 0, 100'000, std::chrono::seconds(1)),
            "reading: 0.1 M lines, 0.1 M/s");
  EXPECT_EQ(progress_text("uniting 4 digests", 1, 4, 0, std::chrono::seconds(2)),
            "uniting 4 digests: 25 %");
}

}  // namespace
}  // namespace proxy::command
