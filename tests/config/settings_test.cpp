#include "config/settings.hpp"

#include <gtest/gtest.h>

#include "config/text.hpp"

namespace config {
namespace {

TEST(DefaultName, IsAlwaysAToken) {
  EXPECT_EQ(default_name("cache-a.lan", 3128), "cache-a.lan-3128");
  EXPECT_EQ(default_name("fd00::2", 80), "fd00--2-80");
  EXPECT_EQ(default_name("", 3128), "hearsay-3128");
  EXPECT_TRUE(is_token(default_name("a b\"c\\\r\n\xff", 0)));
}

TEST(AccessSettings, RefusesByDefaultAllButTheNeighbourhood) {
  const AccessSettings access;
  const auto in = [](const Networks& list, std::string_view address) {
    return contains(list, *parse_address(address));
  };
  EXPECT_TRUE(in(access.clients, "127.0.0.1"));
  EXPECT_TRUE(in(access.clients, "fd00::1"));
  EXPECT_FALSE(in(access.clients, "203.0.113.9"));
  EXPECT_TRUE(in(access.monitor, "192.168.1.1"));
  EXPECT_FALSE(in(access.admin, "192.168.1.1"));
  EXPECT_TRUE(access.peers.empty());
  for (const std::string_view closed : {"127.0.0.1", "0.0.0.0", "::", "::1", "::ffff:127.0.0.1",
                                        "169.254.1.1", "169.254.169.254", "fd00:ec2::254"}) {
    EXPECT_TRUE(in(access.deny_to, closed)) << closed;
  }
  EXPECT_TRUE(access.deny_to_self);
  EXPECT_FALSE(in(access.deny_to, "10.0.0.1"));
}

TEST(CacheSettings, StoresBodiesUpToAnEighthOfItsMemoryUnlessTold) {
  EXPECT_EQ((CacheSettings{mebibytes(80), {}}.largest_object()), mebibytes(10));
  EXPECT_EQ((CacheSettings{mebibytes(80), mebibytes(40)}.largest_object()), mebibytes(40));
}

}  // namespace
}  // namespace config
