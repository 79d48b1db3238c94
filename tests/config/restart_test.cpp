#include "config/restart.hpp"

#include <gtest/gtest.h>

namespace config {
namespace {

using Names = std::vector<std::string_view>;

TEST(Restart, IsNeededForNothingThatIsTheSame) {
  EXPECT_EQ(needing_restart(Settings(), Settings()), Names());
}

TEST(Restart, IsNeededForWhatIsSetUpAtTheStart) {
  Settings told;
  told.listen.push_back({"::1", 3128});
  told.cache.disk = DiskSettings{.path = "/var/cache/hearsay", .size = mebibytes(100)};
  told.digest.poll = milliseconds(2'000);
  told.log.access = LogTarget::none;
  EXPECT_EQ(needing_restart(Settings(), told),
            (Names{"listen", "cache.disk", "digest.poll", "log"}));
}

TEST(Restart, IsNotNeededForWhatRequestsFollow) {
  Settings told;
  told.peers.emplace_back().name = "b";
  told.digest.prefer = Prefer::latency;
  told.access.connect_ports.push_back(8443);
  told.timeouts.connect = milliseconds(1);
  told.limits.connections = 7;
  told.cache.stale_if_error = milliseconds(0);
  EXPECT_EQ(needing_restart(Settings(), told), Names());
}

}  // namespace
}  // namespace config
