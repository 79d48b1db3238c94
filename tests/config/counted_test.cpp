#include "config/counted.hpp"

#include <gtest/gtest.h>

namespace config {
namespace {

TEST(Counted, HasTheNounInItsNumber) {
  EXPECT_EQ(counted(0, "thread"), "0 threads");
  EXPECT_EQ(counted(1, "thread"), "1 thread");
  EXPECT_EQ(counted(2, "thread"), "2 threads");
  EXPECT_EQ(counted(1, "entry", "entries"), "1 entry");
  EXPECT_EQ(counted(12, "entry", "entries"), "12 entries");
}

}  // namespace
}  // namespace config
