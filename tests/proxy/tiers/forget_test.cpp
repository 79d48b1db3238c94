#include <gtest/gtest.h>

#include <thread>

#include "proxy/cache/purge_pattern.hpp"
#include "proxy/tiers/tiers.hpp"
#include "tests/proxy/cache/messages.hpp"
#include "tests/proxy/scene.hpp"
#include "tests/support/run.hpp"
#include "tests/support/temporary_directory.hpp"

namespace proxy {
namespace {

using cache::disk::PurgeRules;

// Otherwise the disk would give out again what memory has dropped.
TEST(Forget, PurgesTheDiskOfWhatALiarGaveThoughItTakesNoOtherPurge) {
  const support::TemporaryDirectory home;
  Scene scene;
  const auto work = net::asio::make_work_guard(scene.aside);
  const std::jthread aside([&] { scene.aside.run_for(std::chrono::seconds(20)); });
  cache::DiskTier disk(scene.budget, scene.clock, {.path = home.path(), .bytes = 64 << 20},
                       PurgePattern::reading);
  ASSERT_TRUE(disk.start());
  scene.shared.cache.disk = &disk;
  auto& rules = disk.disk().catalog().rules;
  for (std::size_t i = 0; i < PurgeRules::kMost; ++i) {
    ASSERT_EQ(rules.add("http://" + std::to_string(i) + ".test/"), PurgeRules::Added::yes);
  }
  const auto forgotten = [&](PurgePattern purge) {
    return support::run(scene.worker.io, forget(scene.worker.cache, purge)).has_value();
  };
  EXPECT_FALSE(forgotten(PurgePattern("http://a.test/")));
  EXPECT_TRUE(forgotten(PurgePattern(cache::Giver{7})));
  scene.shared.cache.disk = nullptr;
  scene.aside.stop();
}

// A response that was asked for before the purge of many URLs looks for it among all purges, under
// the lock that its URL has on disk. Builds for debugging check the order of the two locks.
TEST(Keep, FindsAPurgeOfManyUrlsSinceItsRequestWithTheDisksLockHeld) {
  const support::TemporaryDirectory home;
  Scene scene;
  cache::DiskTier disk(scene.budget, scene.clock, {.path = home.path(), .bytes = 64 << 20},
                       PurgePattern::reading);
  ASSERT_TRUE(disk.start());
  scene.shared.cache.disk = &disk;
  const auto asked = std::chrono::steady_clock::now();
  scene.shared.cache.fills.invalidate(PurgePattern("http://purged.test/"), asked);
  const auto is_kept = [&](const std::string& url) {
    const auto key = digest::key_of(digest::Method::get, url);
    return keep(scene.shared.cache, key, cache::entry_of(scene.budget, {.url = url}), asked);
  };
  EXPECT_FALSE(is_kept("http://purged.test/a"));
  EXPECT_TRUE(is_kept("http://other.test/a"));
  scene.shared.cache.disk = nullptr;
}

}  // namespace
}  // namespace proxy
