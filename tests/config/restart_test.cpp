#include "config/settings.hpp"

#include <gtest/gtest.h>

namespace config {
namespace {

using Names = std::vector<std::string_view>;

TEST(Restart, IsNeededForNothingThatIsTheSame) {
  EXPECT_EQ(needing_restart(Settings(), Settings()), Names());
}

DiskSettings disk_at(const char* path, ByteSize size) {
  return {.path = path, .size = size};
}

TEST(Restart, IsNeededForWhatIsSetUpAtTheStart) {
  Settings told;
  told.process.listen.push_back({"::1", 3128});
  told.cache.disk = disk_at("/var/cache/hearsay", mebibytes(100));
  EXPECT_EQ(needing_restart(Settings(), told), (Names{"listen", "cache.disk"}));
  EXPECT_EQ(needing_restart(told, Settings()), (Names{"listen", "cache.disk"}));
  Settings elsewhere = told;
  elsewhere.cache.disk = disk_at("/mnt/cache", mebibytes(200));
  EXPECT_EQ(needing_restart(told, elsewhere), Names{"cache.disk.path"});
  keep_until_restart(told, elsewhere);
  EXPECT_EQ(elsewhere.cache.disk, disk_at("/var/cache/hearsay", mebibytes(200)));
}

TEST(Restart, IsNotNeededForWhatRequestsFollow) {
  Settings told;
  told.peers.emplace_back().name = "b";
  told.digest.prefer = Prefer::latency;
  told.access.connect_ports.push_back({8443, 8443});
  told.timeouts.connect = milliseconds(1);
  told.limits.connections = 7;
  told.cache.stale_if_error = milliseconds(0);
  told.cache.memory = mebibytes(1);
  told.cache.max_object = mebibytes(1);
  told.digest.bits_per_entry = 9;
  told.digest.poll = milliseconds(2'000);
  told.log.access = LogTarget::none;
  EXPECT_EQ(needing_restart(Settings(), told), Names());
}

TEST(Restart, UntilThenWhatNeedsItStays) {
  Settings told;
  told.process.name = "b";
  told.process.listen.clear();
  told.process.threads = 7;
  told.process.sandbox = false;
  told.process.user = "hearsay";
  told.process.control = "/srv/control.sock";
  told.cache.disk = disk_at("/var/cache/hearsay", mebibytes(100));
  told.limits.connections = 7;
  EXPECT_EQ(needing_restart(Settings(), told).size(), 7U) << "each of them";
  keep_until_restart(Settings(), told);
  EXPECT_EQ(needing_restart(Settings(), told), Names());
  EXPECT_EQ(told.limits.connections, 7U);
}

}  // namespace
}  // namespace config
