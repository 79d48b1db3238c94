#include "proxy/crowd/descriptors.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace {

TEST(DescriptorLimits, LeaveEachClientASecondOneForItsOrigin) {
  EXPECT_EQ(descriptor_limits(1000, 0).connections, 500U);
  EXPECT_EQ(descriptor_limits(1000, 200).connections, 400U);
}

TEST(DescriptorLimits, LeaveClientsAQuarterHoweverLargeTheDiskIs) {
  EXPECT_EQ(descriptor_limits(1000, 100'000).connections, 250U);
  EXPECT_EQ(descriptor_limits(2, 100).connections, 1U);
}

TEST(DescriptorLimits, KeepTheLastEighthFromClients) {
  EXPECT_EQ(descriptor_limits(1024, 0).scarce_from, 896U);
  constexpr auto kUnlimited = ~std::size_t{0};
  EXPECT_GT(descriptor_limits(kUnlimited, 0).scarce_from, kUnlimited / 2);
}

}  // namespace
}  // namespace proxy
