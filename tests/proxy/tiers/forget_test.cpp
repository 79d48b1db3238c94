#include <gtest/gtest.h>

#include "tests/proxy/tiers/cache_scene.hpp"

namespace proxy::tiers {
namespace {

using cache::disk::PurgeRules;

// Otherwise the disk would give out again what memory has dropped.
TEST(Forget, PurgesTheDiskOfWhatALiarGaveThoughItTakesNoOtherPurge) {
  CacheScene scene(Over::disk);
  auto& rules = scene.disk->disk().catalog().rules;
  for (std::size_t i = 0; i < PurgeRules::kMost; ++i) {
    ASSERT_EQ(rules.add("http://" + std::to_string(i) + ".test/"), PurgeRules::Added::yes);
  }
  EXPECT_FALSE(scene.forget_all(cache::PurgePattern("http://a.test/")));
  EXPECT_TRUE(scene.forget_all(cache::PurgePattern(cache::Giver{7})));
}

// A response that was asked for before the purge of many URLs looks for it among all purges, under
// the lock that its URL has on disk. Builds for debugging check the order of the two locks.
TEST(Keep, FindsAPurgeOfManyUrlsSinceItsRequestWithTheDisksLockHeld) {
  CacheScene scene(Over::disk);
  const auto asked = scene.now();
  scene.fills.invalidate(cache::PurgePattern("http://purged.test/"), asked);
  EXPECT_FALSE(scene.keep("http://purged.test/a", asked));
  EXPECT_TRUE(scene.keep("http://other.test/a", asked));
}

}  // namespace
}  // namespace proxy::tiers
