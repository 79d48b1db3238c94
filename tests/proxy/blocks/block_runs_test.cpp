#include "proxy/blocks/block_runs.hpp"

#include <gtest/gtest.h>

#include <future>
#include <set>
#include <vector>

#include "tests/proxy/blocks/object_of.hpp"
#include "tests/proxy/fill/fill_scene.hpp"
#include "tests/support/run.hpp"

namespace proxy::blocks {
namespace {

using support::run;

constexpr upstream::Failure kRunCut{
    upstream::Failure::Where::upstream, upstream::Failure::What::cut, {}};

struct Scene {
  using Begin = BlockRuns::Wanted::Begin;
  BlockRuns::Taken take(std::uint32_t block, std::uint32_t last, Begin begin = Begin::needed) {
    return runs.take({object, block, last, begin}, is_stored, io.get_executor());
  }
  cache::BlockRange blocks(const BlockRuns::Taken& taken) const {
    return taken.use.run()->blocks();
  }
  // The writer's next block. Nothing: the writer would have to wait; -1: the run is over.
  std::optional<std::int64_t> next(const std::shared_ptr<BlockRun>& which) {
    const auto got =
        std::make_shared<std::optional<std::int64_t>>();  // shared: the result may come later
    net::spawn(io.get_executor(), runs.next(which, is_stored),
               [got](std::exception_ptr, const BlockRuns::Next& step) {
                 *got = step.fill ? std::int64_t{step.block} : -1;
               });
    io.restart();
    io.poll();
    return *got;
  }
  void bring(const std::shared_ptr<BlockRun>& which) {
    ASSERT_TRUE(next(which).value_or(-1) >= 0);
    runs.done(*which);
  }

  boost::asio::io_context io{1};
  cache::Budget budget{1 << 30};
  cache::Ref<const cache::Entry> object = object_of(budget, 100 << 20);
  std::set<std::uint32_t> held;
  const BlockRuns::IsStored is_stored = [this](std::uint32_t block) {
    return held.contains(block);
  };
  BlockRuns runs;
};

TEST(BlockRuns, AskForConsecutiveMissingBlocks) {
  const struct {
    std::set<std::uint32_t> held;
    std::uint32_t block, last;
    cache::BlockRange asked;
  } cases[] = {
      {{}, 0, 0, {0, 0}},        {{}, 5, 9, {5, 9}}, {{}, 5, 99, {5, 20}},  // at most kMost blocks
      {{8, 9}, 5, 99, {5, 7}},  // up to the next stored block
      {{4, 99}, 5, 10, {5, 10}},
  };
  for (const auto& [held, block, last, asked] : cases) {
    Scene scene;
    scene.held = held;
    const auto taken = scene.take(block, last);
    EXPECT_TRUE(taken.begun && taken.block);
    EXPECT_EQ(scene.blocks(taken), asked) << block;
  }
}

TEST(BlockRuns, AreNotBegunForStoredBlocksOrWithoutLeave) {
  Scene scene;
  scene.held = {3};
  EXPECT_FALSE(scene.take(3, 9).block);
  EXPECT_FALSE(scene.take(4, 9, Scene::Begin::no).block);
  const auto begun = scene.take(4, 9);
  EXPECT_TRUE(scene.take(5, 9, Scene::Begin::no).block) << "is under way";
}

TEST(BlockRuns, TellTheLastBlockThatTheySupplySoon) {
  Scene scene;
  EXPECT_FALSE(scene.runs.under_way(*scene.object, 0));
  const auto begin = [&](cache::BlockRange blocks, bool through) {
    return scene.runs.begin(scene.object, {blocks, through}, scene.io.get_executor());
  };
  const auto some = begin({3, 9}, false);
  EXPECT_FALSE(scene.runs.under_way(*scene.object, 2));
  EXPECT_EQ(scene.runs.under_way(*scene.object, 5), 9U);
  EXPECT_FALSE(scene.runs.under_way(*scene.object, 10));
  const auto long_one = begin({20, 99}, false);
  EXPECT_EQ(scene.runs.under_way(*scene.object, 20), 20 + BlockRuns::kNear - 1);
  EXPECT_FALSE(scene.runs.under_way(*scene.object, 20 + BlockRuns::kNear));
  const auto whole = begin({0, 99}, true);
  EXPECT_EQ(scene.runs.under_way(*scene.object, 20 + BlockRuns::kNear), 99U);
}

TEST(BlockRuns, ReachTheLargestBlockNumber) {
  Scene scene;
  constexpr auto kLast = UINT32_MAX - 1;
  scene.object = object_of(scene.budget, cache::kLargestObject);
  const auto taken = scene.take(kLast - 1, kLast);
  EXPECT_EQ(scene.blocks(taken), (cache::BlockRange{kLast - 1, kLast}));
  EXPECT_EQ(scene.runs.under_way(*scene.object, kLast), kLast);
  scene.bring(taken.use.run());
  EXPECT_EQ(scene.next(taken.use.run()), kLast);
}

TEST(BlockRuns, SupplyUnawaitedBlocksOnlyWithASpareSlot) {
  Scene scene;
  const auto first = scene.take(0, 9);
  std::vector<TransferSlots::Slot> taken;
  while (auto slot = scene.runs.slots().try_take(TransferSlots::For::stored)) {
    taken.push_back(std::move(slot));
  }
  scene.bring(first.use.run());
  EXPECT_EQ(scene.next(first.use.run()), std::nullopt) << "not ahead of its reader";
  const auto second = scene.take(1, 9);
  EXPECT_EQ(scene.next(first.use.run()), 1);
  scene.runs.done(*first.use.run());
  taken.clear();
  EXPECT_EQ(scene.next(first.use.run()), 2);
}

TEST(BlockRuns, AreJoinedByReadersOfTheirBlocks) {
  Scene scene;
  const auto first = scene.take(5, 9);
  const auto second = scene.take(7, 30);
  EXPECT_FALSE(second.begun);
  EXPECT_EQ(second.use.run(), first.use.run());
  const auto third = scene.take(10, 30);
  EXPECT_TRUE(third.begun);
  const auto fourth = scene.take(2, 30);
  EXPECT_EQ(scene.blocks(fourth), (cache::BlockRange{2, 4})) << "before what is under way";
  EXPECT_TRUE(scene.runs.under_way(*scene.object, 9));
  EXPECT_FALSE(scene.runs.under_way(*scene.object, 30));
  EXPECT_FALSE(scene.runs.under_way(*object_of(scene.budget, 1 << 30, "", 2), 9));
}

TEST(BlockRuns, SupplyNoBlockTwice) {
  Scene scene;
  const auto first = scene.take(5, 9);
  scene.bring(first.use.run());
  EXPECT_TRUE(scene.take(5, 9).begun) << "was fetched, and is not held any more";
}

TEST(BlockRuns, StayWithinABoundAheadOfTheirReaders) {
  Scene scene;
  const auto taken = scene.take(0, 9);
  const auto run = taken.use.run();
  for (std::uint32_t block = 0; block <= BlockRuns::kAhead; ++block) scene.bring(run);
  EXPECT_FALSE(scene.next(run));
  EXPECT_EQ(run->ask(1), BlockRun::Asked::yes);
  scene.io.restart();
  scene.io.poll();
  EXPECT_EQ(scene.next(run), static_cast<int>(BlockRuns::kAhead) + 1);
  EXPECT_EQ(run->ask(10), BlockRun::Asked::not_supplied) << "not its to bring";
}

TEST(BlockRuns, AreBegunEarlyForBlocksThatNoRunSupplies) {
  Scene scene;
  const auto first = scene.take(0, 40);
  EXPECT_FALSE(scene.take(8, 40, Scene::Begin::early).block) << "is under way";
  const auto early = scene.take(16, 40, Scene::Begin::early);
  EXPECT_TRUE(early.begun && early.use.run()->early());
  EXPECT_EQ(scene.blocks(early), (cache::BlockRange{16, 31}));
  EXPECT_EQ(scene.take(16, 40).use.run(), early.use.run());
  scene.held = {32};
  EXPECT_FALSE(scene.take(32, 40, Scene::Begin::early).block);
}

TEST(BlockRuns, ThatAreLongCedeFarBlocksToEarlyRuns) {
  Scene scene;
  RunPlan plan;
  plan.blocks = {0, 99};
  plan.also_wanted = [] { return true; };
  const auto run = scene.runs.begin(scene.object, std::move(plan), scene.io.get_executor());
  scene.bring(run);
  EXPECT_FALSE(scene.take(8, 99, Scene::Begin::early).block) << "too near";
  const auto early = scene.take(9, 99, Scene::Begin::early);
  EXPECT_EQ(scene.blocks(early), (cache::BlockRange{9, 24}));
  EXPECT_EQ(run->blocks(), (cache::BlockRange{0, 8}));
  EXPECT_EQ(scene.take(20, 99).use.run(), early.use.run());
  EXPECT_TRUE(scene.take(25, 99).begun);
  scene.runs.decline(*early.use.run());
  EXPECT_EQ(run->blocks().last, 99U);
}

TEST(BlockRuns, CedeNoAwaitedBlocksAndNoneOfAWholeResponse) {
  for (const bool through : {false, true}) {
    Scene scene;
    RunPlan plan;
    plan.blocks = {0, 99};
    plan.through = through;
    plan.also_wanted = [] { return true; };
    const auto run = scene.runs.begin(scene.object, std::move(plan), scene.io.get_executor());
    std::optional<BlockRuns::Taken> waits;
    if (!through) waits = scene.take(20, 20);
    EXPECT_FALSE(scene.take(12, 99, Scene::Begin::early).block);
    EXPECT_EQ(run->blocks().last, 99U);
  }
}

TEST(BlockRuns, AreNotBegunEarlyForAnObjectWithManyRuns) {
  Scene scene;
  std::vector<BlockRuns::Taken> many;
  for (std::uint32_t i = 0; i < BlockRuns::kManyOfOne; ++i)
    many.push_back(scene.take(2 * i, 2 * i));
  EXPECT_FALSE(scene.take(50, 60, Scene::Begin::early).block);
  EXPECT_TRUE(scene.take(50, 60).begun);
}

TEST(BlockRuns, EndWithoutReaders) {
  Scene scene;
  int told = 0;
  auto taken = scene.take(0, 9);
  const auto run = taken.use.run();
  run->on_unwanted([&told] { ++told; });
  auto second = scene.take(3, 9);
  taken.use.release();
  EXPECT_TRUE(run->wanted());
  second.use.release();
  EXPECT_FALSE(run->wanted());
  EXPECT_EQ(scene.next(run), -1);
  EXPECT_EQ(told, 1);
}

TEST(BlockRuns, OfAnArrivedResponseContinueWhileAlsoWanted) {
  Scene scene;
  bool wanted = true;
  RunPlan plan;
  plan.blocks = {0, 99};
  plan.also_wanted = [&wanted] { return wanted; };
  const auto run = scene.runs.begin(scene.object, std::move(plan), scene.io.get_executor());
  scene.bring(run);
  const auto far = scene.take(50, 60);
  EXPECT_TRUE(far.begun) << "nobody waits for so much";
  const auto near = scene.take(2, 60);
  EXPECT_FALSE(near.begun);
  wanted = false;
  EXPECT_EQ(scene.next(run), 1);
}

TEST(BlockRuns, EndBeforeBlocksThatAreStoredOrSuppliedByAnotherRun) {
  Scene scene;
  RunPlan plan;
  plan.blocks = {0, 99};
  plan.also_wanted = [] { return true; };
  const auto run = scene.runs.begin(scene.object, std::move(plan), scene.io.get_executor());
  const auto another = scene.take(40, 42);
  scene.held = {2};
  scene.bring(run);
  scene.bring(run);
  EXPECT_EQ(scene.next(run), -1);
  EXPECT_EQ(run->blocks().last, 1U);
}

TEST(BlockRuns, OfAnOriginWithoutRangesContinueAndAreAwaited) {
  Scene scene;
  const auto taken = scene.take(50, 50);
  const auto run = taken.use.run();
  scene.held = {0, 1};
  run->replan_whole();
  EXPECT_FALSE(scene.take(99, 99).begun);
  for (int block = 0; block < 3; ++block) scene.bring(run);
}

// Checks whether another thread can use runs of the same object meanwhile.
class Elsewhere {
 public:
  explicit Elsewhere(Scene& scene) : scene_(scene) {}
  bool is_served() {
    uses_.push_back(std::async(std::launch::async, [this] {
      return scene_.runs.under_way(*scene_.object, 0).has_value();
    }));
    return uses_.back().wait_for(std::chrono::seconds(5)) == std::future_status::ready;
  }

 private:
  Scene& scene_;
  std::vector<std::future<bool>> uses_;
};

TEST(BlockRuns, HoldNoLockWhileTheyAskWhatIsStoredOrWanted) {
  Scene scene;
  Elsewhere elsewhere(scene);
  int asked = 0;
  const BlockRuns::IsStored held = [&](std::uint32_t) {
    ++asked;
    EXPECT_TRUE(elsewhere.is_served());
    return false;
  };
  RunPlan plan;
  plan.blocks = {0, 99};
  plan.also_wanted = [&] {
    ++asked;
    EXPECT_TRUE(elsewhere.is_served());
    return true;
  };
  const auto first = scene.runs.begin(scene.object, std::move(plan), scene.io.get_executor());
  (void)first->wanted();
  first->on_unwanted([] {});
  first->look_whether_wanted();
  EXPECT_EQ(asked, 2);
  scene.bring(first);
  const auto step = run(scene.io, scene.runs.next(first, held));
  EXPECT_EQ(step.block, 1U);
  EXPECT_EQ(asked, 5) << "once more for each block, and whether block 1 is held";
  (void)scene.runs.take({scene.object, 98, 98}, held, scene.io.get_executor());
  EXPECT_EQ(asked, 6);
}

TEST(BlockRuns, ThatFailTellTheirReaders) {
  Scene scene;
  const auto taken = scene.take(0, 9);
  const auto waiting = scene.take(3, 9);
  {
    BlockRuns::Ending ending(scene.runs, taken.use.run());
    ending.end = {RunEnd::How::failed, kRunCut};
  }
  for (const auto* one : {&taken, &waiting}) {
    EXPECT_EQ(run(scene.io, fill::rest_of(*one->block)).error().what, upstream::Failure::What::cut);
  }
  EXPECT_TRUE(scene.take(3, 9).begun);
}

TEST(BlockRuns, ShowABlockAsItArrives) {
  Scene scene;
  const auto taken = scene.take(0, 1);
  const auto step = run(scene.io, scene.runs.next(taken.use.run(), scene.is_stored));
  fill::append_block(*step.fill, scene.budget, "half");
  EXPECT_EQ(fill::text_of(taken.block->at_hand()), "half");
  fill::append_block(*step.fill, scene.budget, " and half");
  step.fill->finish();
  scene.runs.done(*taken.use.run());
  EXPECT_EQ(run(scene.io, fill::rest_of(*taken.block)).value(), " and half");
}

}  // namespace
}  // namespace proxy::blocks
