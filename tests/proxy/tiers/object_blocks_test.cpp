#include "proxy/tiers/cache.hpp"

#include <gtest/gtest.h>

#include "proxy/cache/combine.hpp"
#include "tests/proxy/tiers/cache_scene.hpp"

namespace proxy::tiers {
namespace {

using namespace std::chrono_literals;

const std::string kLargeUrl = "http://a.test/large";
const auto kLargeKey = cache::key_of(kLargeUrl);
constexpr std::uint64_t kObjectLength = 3 * cache::kBlockBytes;

// An object of three blocks.
struct BlocksScene : CacheScene {
  explicit BlocksScene(Over over) : CacheScene(over) {
    const cache::Request asked;
    const cache::Response response("ETag: \"v1\"\r\nCache-Control: max-age=600\r\n");
    const cache::Times at{clock.now(), clock.now()};
    const cache::Received received{kLargeUrl, asked.head.fields, response.head, at, "us"};
    object = cache::object_entry(budget, received, {.version = 1}, kObjectLength);
  }
  NewBlock block(std::uint32_t number, AskedAt asked, cache::Giver giver = {}) {
    const auto size = static_cast<std::uint32_t>(cache::kBlockBytes);
    const auto bytes = cache::Block::make(budget, size);
    std::fill_n(bytes->data(), size, static_cast<char>('a' + number));
    return {number, {{{bytes, size}}, size}, giver, asked};
  }
  StoredBlock read(std::uint32_t number) {
    return support::run(io, access.read_block(kLargeKey, object, number));
  }
  bool keep_object() { return cache.store(kLargeKey, object, now()); }
  void evict_block(std::uint32_t number) {
    if (disk && !disk->settle(10s)) throw std::runtime_error("no rest");
    store.remove(cache::disk::block_key(kLargeKey, 1, number));
  }

  cache::Ref<const cache::Entry> object;
};

TEST(ObjectBlocks, AreKeptWhileTheirObjectIsStored) {
  for (const auto over : {Over::memory, Over::disk}) {
    BlocksScene scene(over);
    EXPECT_EQ(scene.cache.store_block(kLargeKey, scene.object, scene.block(0, scene.now())),
              BlockKept::no)
        << "the object is not stored, or was purged";
    EXPECT_EQ(scene.cache.store_block_of_new(kLargeKey, scene.object, scene.block(0, scene.now())),
              BlockKept::yes)
        << "its entry follows";
    ASSERT_TRUE(scene.keep_object());
    EXPECT_EQ(scene.cache.store_block(kLargeKey, scene.object, scene.block(1, scene.now())),
              BlockKept::yes);
    for (std::uint32_t number = 0; number < 3; ++number)
      EXPECT_EQ(scene.cache.has_block(kLargeKey, *scene.object, number), number < 2) << number;
  }
}

struct GiverCase {
  const char* name;
  cache::Giver giver;
  std::chrono::milliseconds asked;  // before the purge of all that the giver 7 gave
  BlockKept kept;
};

TEST(ObjectBlocks, AreNotKeptIfAllOfTheirGiverWasPurgedSinceTheyWereAskedFor) {
  for (const GiverCase& c : {GiverCase{"of the giver, asked before", {7}, 1ms, BlockKept::no},
                             GiverCase{"of the giver, asked after", {7}, -1ms, BlockKept::yes},
                             GiverCase{"of another", {8}, 1ms, BlockKept::yes},
                             GiverCase{"of the origin", {}, 1ms, BlockKept::yes}}) {
    BlocksScene scene(Over::disk);
    ASSERT_TRUE(scene.keep_object());
    scene.clock.pass(1min);
    const auto purged = scene.now();
    scene.fills.invalidate(cache::PurgePattern(cache::Giver{7}), purged);
    const auto kept =
        scene.cache.store_block(kLargeKey, scene.object, scene.block(0, purged - c.asked, c.giver));
    EXPECT_EQ(kept, c.kept) << c.name;
    EXPECT_EQ(scene.cache.has_block(kLargeKey, *scene.object, 0), c.kept == BlockKept::yes)
        << c.name;
  }
}

TEST(ObjectBlocks, AreReadBackWhole) {
  BlocksScene scene(Over::disk);
  ASSERT_TRUE(scene.keep_object());
  ASSERT_EQ(scene.cache.store_block(kLargeKey, scene.object, scene.block(1, scene.now())),
            BlockKept::yes);
  const auto from_memory = scene.read(1);
  ASSERT_TRUE(from_memory.block);
  EXPECT_FALSE(from_memory.from_disk);
  scene.evict_block(1);
  const auto from_disk = scene.read(1);
  ASSERT_TRUE(from_disk.block);
  EXPECT_TRUE(from_disk.from_disk);
  EXPECT_EQ(from_disk.block->body.size, cache::kBlockBytes);
  EXPECT_EQ(*from_disk.block->body.slices.front().block->data(), 'b');
  EXPECT_FALSE(scene.read(2).block) << "it never came";
  EXPECT_FALSE(scene.read(1).from_disk) << "memory has it again";
}

TEST(ObjectBlocks, FitWhereTheDiskHasRoomAndTheSettingsAllow) {
  BlocksScene without(Over::memory);
  EXPECT_FALSE(without.cache.may_be_kept_in_blocks(kObjectLength));
  BlocksScene scene(Over::disk);
  EXPECT_TRUE(scene.cache.may_be_kept_in_blocks(kObjectLength));
  EXPECT_FALSE(scene.cache.may_be_kept_in_blocks(0)) << "it has no block";
  EXPECT_FALSE(scene.cache.may_be_kept_in_blocks(cache::kLargestObject + 1));
  scene.tiers.max_object = kObjectLength - 1;
  EXPECT_FALSE(scene.cache.may_be_kept_in_blocks(kObjectLength));
  EXPECT_LE(scene.cache.large_from(), cache::kLargeFrom);
  EXPECT_NE(scene.cache.new_version(), scene.cache.new_version());
}

struct PatienceCase {
  const char* name;
  std::chrono::milliseconds passed;  // since the response began
  std::chrono::milliseconds waited;  // of these, for the disk
  std::chrono::milliseconds left;
};

TEST(DiskPatience, IsASecondAndTheTimeThatTheResponseHasTakenWithoutIt) {
  for (const PatienceCase& c : {PatienceCase{"at the beginning", 0ms, 0ms, 1000ms},
                                PatienceCase{"a response of 3 s", 3000ms, 0ms, 4000ms},
                                PatienceCase{"it has waited all the time", 1000ms, 1000ms, 0ms},
                                PatienceCase{"half of the time", 2000ms, 1000ms, 1000ms},
                                PatienceCase{"two thirds", 3000ms, 2000ms, 0ms},
                                PatienceCase{"longer", 3000ms, 2500ms, -1000ms}}) {
    const DiskPatience::Time begun{1h};
    DiskPatience patience(begun);
    patience.record(c.waited);
    EXPECT_EQ(patience.left(begun + c.passed), c.left) << c.name;
  }
}

TEST(DiskPatience, IsNotUsedWhileTheDiskKeepsUp) {
  BlocksScene scene(Over::disk);
  const auto patience = std::make_shared<DiskPatience>(scene.now());
  support::run(scene.io, scene.access.let_the_disk_catch_up(patience));
  EXPECT_EQ(patience->left(scene.now()), DiskPatience::kAtOnce);
}

}  // namespace
}  // namespace proxy::tiers
