#include "proxy/blocks/block_writer.hpp"

#include <gtest/gtest.h>

namespace proxy::blocks {
namespace {

using namespace std::chrono_literals;

TEST(LeastRate, IsMissedByASlowerSource) {
  LeastRate rate(1000, 300ms);
  rate.record(0, 300ms);
  EXPECT_FALSE(rate.missed());
  rate.record(0, 1ms);
  EXPECT_TRUE(rate.missed()) << "at its first bytes";
  rate.record(2000, 1999ms);
  EXPECT_FALSE(rate.missed());
  rate.record(0, 1ms);
  EXPECT_TRUE(rate.missed());
}

TEST(LeastRate, CountsNothingButWaiting) {
  LeastRate rate(1000, 0ms);
  for (int i = 0; i < 100; ++i) rate.record(10, 10ms);  // however long it takes to read them
  EXPECT_FALSE(rate.missed());
}

}  // namespace
}  // namespace proxy::blocks
