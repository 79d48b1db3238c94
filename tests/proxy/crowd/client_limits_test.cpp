#include "proxy/crowd/client_table.hpp"

#include <gtest/gtest.h>

namespace proxy::crowd {
namespace {

constexpr auto kMany = ~std::size_t{0};

TEST(ClientLimits, FollowTheSettings) {
  config::Limits limits{.connections = 100};
  EXPECT_EQ(connection_limits(limits, kMany).all, 100U);
  EXPECT_EQ(connection_limits(limits, kMany).per_client, 50U);
  EXPECT_EQ(request_limits(limits, kMany).per_client, 50U);
  limits.requests_per_client = 90;
  limits.connections_per_client = 10;
  EXPECT_EQ(connection_limits(limits, kMany).per_client, 10U);
  EXPECT_EQ(request_limits(limits, kMany).per_client, 90U);
}

TEST(ClientLimits, AreHalfOfTheConnectionsForWhichThereAreDescriptors) {
  const config::Limits limits{.connections = 100};
  EXPECT_EQ(connection_limits(limits, 40).all, 40U);
  EXPECT_EQ(connection_limits(limits, 40).per_client, 20U);
  EXPECT_EQ(request_limits(limits, 40).per_client, 20U);
  EXPECT_EQ(request_limits(limits, 40).per_network, 30U);
}

TEST(ClientLimits, LetANetworkHaveThreeQuartersOrWhatOneClientMayHave) {
  config::Limits limits{.connections = 100};
  EXPECT_EQ(connection_limits(limits, kMany).per_network(), 75U);
  EXPECT_EQ(request_limits(limits, kMany).per_network, 75U);
  limits.connections_per_client = 100;
  limits.requests_per_client = 200;
  EXPECT_EQ(connection_limits(limits, kMany).per_network(), 100U);
  EXPECT_EQ(request_limits(limits, kMany).per_network, 200U);
}

}  // namespace
}  // namespace proxy::crowd
