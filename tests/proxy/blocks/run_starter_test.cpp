#include "proxy/blocks/block_source.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/blocks/block_scene.hpp"

namespace proxy::blocks {
namespace {

using namespace std::chrono_literals;

TEST(Pace, IsStarvedByWaitingMoreThanHalfOfTheTime) {
  Pace pace;
  EXPECT_FALSE(pace.starved());
  pace.record(10ms, 6ms);
  EXPECT_TRUE(pace.starved());
  pace.record(10ms, 5ms);
  EXPECT_FALSE(pace.starved());
}

TEST(Pace, IsSlowOnceTwoBlocksInARowWere) {
  Pace pace;
  pace.record(200ms, 190ms);
  EXPECT_FALSE(pace.slow()) << "every connection begins slowly";
  pace.record(Pace::kSlow, 110ms);
  EXPECT_TRUE(pace.slow());
  pace.record(119ms, 110ms);
  EXPECT_FALSE(pace.slow());
  pace.record(300ms, 100ms);
  pace.record(300ms, 100ms);
  EXPECT_FALSE(pace.slow()) << "the reader is";
}

constexpr std::uint32_t kLast = 39;

// What has happened when a client is at a block of an object of 40 blocks.
struct EarlyCase {
  const char* claim;
  std::uint32_t block;
  std::optional<cache::BlockRange> in_use;  // the run that the client reads
  std::optional<cache::BlockRange> early;   // the run that begins
  bool starved = false;                     // the last two blocks were slow, too
  bool slow = false;
  std::vector<std::uint32_t> stored = {};
  bool may_fetch = true;
};

struct EarlyScene : BlockScene {
  EarlyScene() : BlockScene({}, kObjectFields, (kLast + 1) * cache::kBlockBytes) {}
  // A reader's share in a run.
  BlockRuns::Use use(cache::BlockRange blocks) {
    runs.begin(object, {.blocks = blocks}, io.get_executor());
    return runs
        .take(
            {object, blocks.first, blocks.last}, [](auto) { return false; }, io.get_executor())
        .use;
  }
  void store_one(std::uint32_t number) {
    const auto bytes = cache::Block::make(budget, cache::kBlockBytes);
    const tiers::NewBlock block{number, {{{bytes, cache::kBlockBytes}}, cache::kBlockBytes}};
    ASSERT_EQ(cache.store_block(url_key, object, block), tiers::BlockKept::yes);
  }
};

void expect_early(const std::vector<EarlyCase>& rows) {
  for (const auto& row : rows) {
    SCOPED_TRACE(row.claim);
    EarlyScene scene;
    for (const auto block : row.stored) scene.store_one(block);
    const auto client = scene.asks();
    const ObjectRequest of{**client, scene.url_key, scene.object, row.may_fetch};
    RunStarter early(scene.fetching, of);
    BlockRuns::Use in_use;
    if (row.in_use) in_use = scene.use(*row.in_use);
    const auto took = row.slow ? 200ms : 10ms;
    for (int i = 0; i < 2; ++i) early.record(took, row.starved ? took : 0ms);
    EXPECT_FALSE(early.go_to(row.block, kLast));
    early.look_ahead(in_use);
    EXPECT_EQ(static_cast<bool>(early.early_slot()), row.early.has_value());
    if (row.early) {
      auto given = early.go_to(row.early->first, kLast);
      ASSERT_TRUE(given);
      EXPECT_TRUE(given->slot);
      EXPECT_TRUE(given->run.use.run()->early());
      EXPECT_EQ(given->run.use.run()->blocks(), *row.early);
    }
  }
}

TEST(EarlyRun, BeginsWithTheNextBlockIfNoRunInUseHasIt) {
  expect_early({
      {"the block in hand is stored", 4, {}, {{5, 20}}},
      {"it is the last of its run", 4, {{0, 4}}, {{5, 20}}},
      {"the run in use has the next one, and is fast", 4, {{0, 9}}, {}},
      {.claim = "the next one is stored", .block = 4, .in_use = {}, .early = {}, .stored = {5}},
      {.claim = "up to what is stored", .block = 4, .in_use = {}, .early = {{5, 6}}, .stored = {7}},
      {"nothing is wanted after it", kLast, {}, {}},
      {.claim = "the request may not fetch",
       .block = 4,
       .in_use = {},
       .early = {},
       .may_fetch = false},
  });
}

TEST(EarlyRun, BeginsAfterARunThatEndsSoonIfTheClientIsFaster) {
  expect_early({
      {.claim = "it ends soon",
       .block = 4,
       .in_use = {{0, 9}},
       .early = {{10, 25}},
       .starved = true},
      {.claim = "it ends within kLead blocks",
       .block = 4,
       .in_use = {{0, 11}},
       .early = {{12, 27}},
       .starved = true},
      {.claim = "it goes on for longer",
       .block = 4,
       .in_use = {{0, 12}},
       .early = {},
       .starved = true},
  });
}

TEST(EarlyRun, TakesBlocksOverFromARunThatIsLongAndSlow) {
  expect_early({
      {.claim = "a long one",
       .block = 0,
       .in_use = {{0, kLast}},
       .early = {{8, 23}},
       .starved = true,
       .slow = true},
      {.claim = "the client is slow, not the run",
       .block = 0,
       .in_use = {{0, kLast}},
       .early = {},
       .slow = true},
      {.claim = "a run of few blocks cedes none",
       .block = 0,
       .in_use = {{0, 12}},
       .early = {},
       .starved = true,
       .slow = true},
  });
}

struct EarlyRunInUse : testing::Test {
  EarlyRunInUse() {
    early.go_to(4, kLast);
    early.look_ahead(in_use);
  }
  EarlyScene scene;
  const std::unique_ptr<policy::TextRequest> client = scene.asks();
  const ObjectRequest of{**client, scene.url_key, scene.object};
  RunStarter early{scene.fetching, of};
  const BlockRuns::Use in_use;
};

TEST_F(EarlyRunInUse, IsDroppedOnceItIsOfNoUse) {
  EXPECT_TRUE(early.early_slot());
  early.look_ahead(in_use);
  EXPECT_FALSE(early.go_to(30, kLast)) << "the client has gone elsewhere";
  EXPECT_FALSE(early.early_slot());
}

TEST_F(EarlyRunInUse, WaitsForItsFirstBlock) {
  EXPECT_FALSE(early.go_to(3, kLast)) << "the client is not there yet";
  EXPECT_TRUE(early.early_slot());
  early.look_ahead(in_use);
  EXPECT_TRUE(early.go_to(5, kLast));
}

TEST_F(EarlyRunInUse, IsTheLastOneIfTheOriginDeclines) {
  const auto given = early.go_to(5, kLast);
  ASSERT_TRUE(given);
  early.give_up();
  early.go_to(25, kLast);
  early.look_ahead(in_use);
  EXPECT_FALSE(early.early_slot());
}

TEST_F(EarlyRunInUse, IsNotBegunWithoutASpareSlot) {
  early.drop_early();
  std::vector<TransferSlots::Slot> taken;
  while (auto slot = scene.runs.slots().spare(nullptr)) taken.push_back(std::move(slot));
  early.go_to(20, kLast);
  early.look_ahead(in_use);
  EXPECT_FALSE(early.early_slot());
}

}  // namespace
}  // namespace proxy::blocks
