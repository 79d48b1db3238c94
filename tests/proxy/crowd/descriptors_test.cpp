#include "proxy/crowd/descriptors.hpp"

#include <gtest/gtest.h>

namespace proxy::crowd {
namespace {

TEST(DescriptorLimits, LeaveEachClientASecondOneForItsOrigin) {
  EXPECT_EQ(descriptor_limits(1000, 0).connections, 437U);
  EXPECT_EQ(descriptor_limits(1000, 200).connections, 337U);
}

TEST(DescriptorLimits, LeaveClientsThreeSixteenthsHoweverLargeTheDiskIs) {
  EXPECT_EQ(descriptor_limits(1000, 100'000).connections, 187U);
  EXPECT_EQ(descriptor_limits(2, 100).connections, 1U);
}

TEST(DescriptorLimits, KeepTheLastEighthFromClientsAndTheirOrigins) {
  EXPECT_EQ(descriptor_limits(1024, 0).scarce_from, 896U);
  for (const std::size_t files : {0U, 100U, 512U}) {
    const auto limits = descriptor_limits(1024, files);
    EXPECT_LE(2 * limits.connections + files, limits.scarce_from) << files;
  }
  constexpr auto kUnlimited = ~std::size_t{0};
  EXPECT_GT(descriptor_limits(kUnlimited, 0).scarce_from, kUnlimited / 2);
}

TEST(DescriptorLimits, LetFewNewcomersWaitWhereFewDescriptorsAre) {
  EXPECT_EQ(descriptor_limits(96, 0).newcomers, 8U);
  EXPECT_EQ(descriptor_limits(1024, 0).newcomers, 56U);
  EXPECT_EQ(descriptor_limits(1 << 20, 0).newcomers, 1024U);
}

TEST(DescriptorShortage, IsNoneWhereNothingIsSetAndAThousandClientsHaveRoom) {
  config::Limits limits;
  EXPECT_FALSE(descriptor_shortage(limits, 20'000, 0)) << "of a common hard limit";
  EXPECT_TRUE(descriptor_shortage(limits, 1024, 0));
  limits.connections = 9'000;
  EXPECT_TRUE(descriptor_shortage(limits, 20'000, 0)) << "somebody has asked for so many";
  limits.connections = 100;
  EXPECT_FALSE(descriptor_shortage(limits, 1024, 0));
  EXPECT_TRUE(descriptor_shortage(limits, 1024, 1000)) << "the disk cannot open its segments";
}

TEST(DescriptorShortage, IsSaidInOneLineForClientsAndDisk) {
  EXPECT_EQ(descriptor_shortage(config::Limits{}, 1024, 17),
            "1024 file descriptors are allowed here, which is enough for 439 client connections "
            "(limits.connections is 20000); the cache on disk may take 17: allow more (LimitNOFILE "
            "of the service, ulimit -n)");
}

}  // namespace
}  // namespace proxy::crowd
