#include "proxy/tiers/cache.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/tiers/cache_scene.hpp"

namespace proxy::tiers {
namespace {

using namespace std::chrono_literals;

const std::string kUrl = "http://a.test/x";
const auto kKey = cache::key_of(kUrl);

class BothTiers : public testing::TestWithParam<Over> {};
INSTANTIATE_TEST_SUITE_P(Over, BothTiers, testing::Values(Over::memory, Over::disk),
                         [](const auto& tested) {
                           return tested.param == Over::disk ? "Disk" : "MemoryAlone";
                         });

TEST_P(BothTiers, KeepWhatIsStored) {
  CacheScene scene(GetParam());
  EXPECT_FALSE(scene.in_memory(kUrl).entry);
  EXPECT_TRUE(scene.keep(kUrl, scene.now()));
  EXPECT_TRUE(scene.in_memory(kUrl).entry);
}

struct OutdatedCase {
  const char* name;
  std::chrono::milliseconds asked;  // before the purge; negative: after it
  cache::Giver giver;
  bool purges_giver;  // all of the giver 7, else the URL
  bool kept;
};

TEST_P(BothTiers, KeepNothingThatWasAskedForBeforeAPurge) {
  for (const OutdatedCase& c : {OutdatedCase{"asked before", 1ms, {}, false, false},
                                OutdatedCase{"asked long before", 59s, {}, false, false},
                                OutdatedCase{"asked after", -1ms, {}, false, true},
                                OutdatedCase{"of the giver, asked before", 1ms, {7}, true, false},
                                OutdatedCase{"of the giver, asked after", -1ms, {7}, true, true},
                                OutdatedCase{"of another giver", 1ms, {8}, true, true},
                                OutdatedCase{"of the origin", 1ms, {}, true, true}}) {
    CacheScene scene(GetParam());
    scene.clock.pass(1min);
    const auto purged = scene.now();
    if (c.purges_giver)
      scene.fills.invalidate(cache::PurgePattern(cache::Giver{7}), purged);
    else
      scene.fills.invalidate(kKey, purged);
    EXPECT_EQ(scene.keep(kUrl, purged - c.asked, c.giver), c.kept) << c.name;
    EXPECT_EQ(!!scene.in_memory(kUrl).entry, c.kept) << c.name;
  }
}

TEST_P(BothTiers, SayWhyAResponseIsNotStored) {
  CacheScene scene(GetParam());
  const auto entry = scene.entry_of({.url = kUrl});
  const auto asked = scene.now();
  EXPECT_EQ(scene.cache.why_not_kept(kKey, *entry, asked), cache::Storability::no_room);
  scene.clock.pass(1s);
  scene.fills.invalidate(kKey, scene.now());
  EXPECT_EQ(scene.cache.why_not_kept(kKey, *entry, asked), cache::Storability::outdated);
}

TEST_P(BothTiers, ForgetForGood) {
  CacheScene scene(GetParam());
  const auto asked = scene.now();
  ASSERT_TRUE(scene.keep(kUrl, asked));
  scene.clock.pass(1s);
  const auto forgotten = scene.forget(kUrl);
  EXPECT_EQ(forgotten.dropped, 1U);
  EXPECT_FALSE(forgotten.owed);
  EXPECT_FALSE(scene.in_memory(kUrl).entry);
  EXPECT_FALSE(scene.keep(kUrl, asked)) << "a response that was being fetched meanwhile";
  EXPECT_FALSE(scene.find(kUrl, scene.now()).found.entry);
  EXPECT_EQ(scene.forget(kUrl).dropped, 0U);
}

TEST_P(BothTiers, ForgetAllThatAPurgeCovers) {
  CacheScene scene(GetParam());
  for (const auto* const url : {"http://a.test/1", "http://a.test/2", "http://b.test/1"})
    ASSERT_TRUE(scene.keep(url, scene.now()));
  ASSERT_TRUE(scene.keep("http://c.test/", scene.now(), {7}));
  scene.clock.pass(1s);
  EXPECT_EQ(scene.forget_all(cache::PurgePattern("http://a.test/"))->dropped, 2U);
  EXPECT_EQ(scene.forget_all(cache::PurgePattern(cache::Giver{7}))->dropped, 1U);
  EXPECT_FALSE(scene.in_memory("http://a.test/1").entry);
  EXPECT_FALSE(scene.in_memory("http://c.test/").entry);
  EXPECT_TRUE(scene.in_memory("http://b.test/1").entry);
}

TEST_P(BothTiers, DropWhatAResponseHasShownToBeOutdated) {
  CacheScene scene(GetParam());
  const auto asked = scene.now();
  ASSERT_TRUE(scene.keep(kUrl, asked));
  scene.cache.drop(kKey, kUrl);
  EXPECT_FALSE(scene.in_memory(kUrl).entry);
  EXPECT_TRUE(scene.keep(kUrl, asked)) << "unlike forget(), which remembers";
}

TEST(Cache, HasNothingBelowMemoryWithoutADisk) {
  CacheScene scene(Over::memory);
  EXPECT_FALSE(scene.find(kUrl, scene.now()).found.entry);
  EXPECT_FALSE(scene.cache.is_for_disk(kKey));
  EXPECT_EQ(scene.cache.most_in_one_piece(kKey), scene.store.max_object());
}

struct BelowCase {
  const char* name;
  bool stored;
  cache::Giver giver;
  bool purged;  // after the request has come
  bool found;
};

TEST(Cache, ReadsBackWhatMemoryHasGivenUp) {
  for (const BelowCase& c : {BelowCase{"stored", true, {}, false, true},
                             BelowCase{"never stored", false, {}, false, false},
                             BelowCase{"of a neighbour", true, {7, false}, false, true},
                             BelowCase{"of a guest", true, {7, true}, false, false},
                             BelowCase{"purged meanwhile", true, {}, true, false}}) {
    CacheScene scene(Over::disk);
    const auto asked = scene.now();
    if (c.stored) {
      ASSERT_TRUE(scene.keep(kUrl, asked, c.giver, 1000)) << c.name;
    }
    scene.evict(kUrl);
    if (c.purged) scene.fills.invalidate(kKey, asked + 1ms);
    const auto stored = scene.find(kUrl, asked);
    EXPECT_EQ(!!stored.found.entry, c.found) << c.name;
    EXPECT_EQ(stored.from_disk, c.found) << c.name;
    if (c.found) {
      EXPECT_EQ(stored.found.entry->body.size, 1000U) << c.name;
    }
  }
}

TEST(Cache, LooksOnDiskOnlyForWhatMemoryLacksAndTheMethodReads) {
  CacheScene scene(Over::disk);
  ASSERT_TRUE(scene.keep(kUrl, scene.now()));
  ASSERT_TRUE(scene.disk->settle(10s));
  const policy::TextRequest get("");
  const policy::TextRequest post("", "POST http://a.test/x HTTP/1.1");
  const auto is_on_disk = [&](const policy::TextRequest& request, const digest::Key& key) {
    Stored stored;
    return !scene.access.find(*request, {key, scene.now()}, stored).is_here();
  };
  EXPECT_FALSE(is_on_disk(get, kKey)) << "memory has it";
  scene.evict(kUrl);
  EXPECT_TRUE(is_on_disk(get, kKey));
  EXPECT_FALSE(is_on_disk(post, kKey));
  EXPECT_FALSE(is_on_disk(get, cache::key_of("http://a.test/y")));
}

TEST(Cache, WritesAtTheSecondRequestWhereTheDiskAdmitsOnlyThen) {
  CacheScene scene(Over::disk, {.path = {}, .admit = cache::Admit::second});
  const auto asks = [&] { return !!scene.find(kUrl, scene.now()).found.entry; };
  EXPECT_FALSE(asks());
  ASSERT_TRUE(scene.keep(kUrl, scene.now()));
  ASSERT_TRUE(scene.disk->settle(10s));
  EXPECT_FALSE(scene.disk->may_have(kKey)) << "asked for once";
  EXPECT_TRUE(asks());
  ASSERT_TRUE(scene.disk->settle(10s));
  EXPECT_TRUE(scene.disk->may_have(kKey)) << "asked for twice";
  const std::string twice = "http://a.test/twice";
  scene.find(twice, scene.now());
  scene.find(twice, scene.now());
  ASSERT_TRUE(scene.keep(twice, scene.now()));
  ASSERT_TRUE(scene.disk->settle(10s));
  EXPECT_TRUE(scene.disk->may_have(cache::key_of(twice))) << "asked for twice before it came";
}

}  // namespace
}  // namespace proxy::tiers
