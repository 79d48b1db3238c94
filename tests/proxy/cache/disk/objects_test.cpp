// Large objects: which of their records are kept, and when they are claimed.
#include <filesystem>
#include <map>
#include <random>

#include "object_scene.hpp"
#include "proxy/cache/disk/pace.hpp"

namespace proxy::cache::disk {
namespace {

using support::TemporaryDirectory;

TEST_F(Objects, AreClaimedOnceAllBlocksAreThereAndNotBefore) {
  ASSERT_TRUE(scene().append(object(url_, 7)));
  EXPECT_FALSE(claimed(index(), url_));
  put_blocks(url_, 7, 1);
  disk().queue().doubt(key_for(url_), 7);
  settle();
  EXPECT_FALSE(claimed(index(), url_)) << "the first one lacks";
  ASSERT_TRUE(scene().append(block(url_, 7, 0)));
  EXPECT_FALSE(claimed(index(), url_));
  disk().queue().doubt(key_for(url_), 7);
  settle();
  EXPECT_TRUE(claimed(index(), url_));
  restart();
  EXPECT_TRUE(claimed(index(), url_));
}

TEST_F(Objects, AreClaimedAsTheirRecordSaysOnlyWithAllBlocks) {
  put_blocks(url_, 7);
  ASSERT_TRUE(scene().append(object(url_, 7, kBlocks + 1)));
  EXPECT_FALSE(claimed(index(), url_)) << "one lacks at the end";
  ASSERT_TRUE(scene().append(object(url_, 8)));
  EXPECT_FALSE(claimed(index(), url_)) << "of another version";
  ASSERT_TRUE(scene().append(object(url_, 7)));
  EXPECT_TRUE(claimed(index(), url_));
  ASSERT_TRUE(scene().append(object(url_, 9, 0)));
  EXPECT_FALSE(claimed(index(), url_)) << "without any";
}

TEST_F(Objects, AreUnclaimedWhenABlockIsLost) {
  put_blocks(url_, 7);
  ASSERT_TRUE(scene().append(object(url_, 7)));
  ASSERT_TRUE(claimed(index(), url_));
  disk().purge(key_of_block(url_, 7, 2), {});
  disk().lose_block(key_for(url_), 7);
  EXPECT_FALSE(claimed(index(), url_)) << "not at once";
  restart();
  EXPECT_FALSE(claimed(index(), url_)) << "not for good";
  EXPECT_TRUE(index().find(key_for(url_))) << "but it is there";
  put_blocks(url_, 7, 2);
  disk().queue().doubt(key_for(url_), 7);
  settle();
  EXPECT_TRUE(claimed(index(), url_)) << "mended";
}

TEST_F(Objects, KeepTheirClaimWhereABlockOfAnOldVersionIsLost) {
  put_blocks(url_, 7);
  ASSERT_TRUE(scene().append(object(url_, 7)));
  disk().lose_block(key_for(url_), 6);
  settle();
  EXPECT_TRUE(claimed(index(), url_));
  restart();
  EXPECT_TRUE(claimed(index(), url_));
}

// The selector has the claim of the variant that was stored last.
TEST_F(Objects, OfAVariantAreClaimedByTheSelector) {
  ASSERT_TRUE(scene().append(selector(url_, 7)));
  EXPECT_FALSE(claimed(index(), url_));
  put_blocks(url_, 7);
  disk().queue().doubt(key_for(url_), 7);
  settle();
  EXPECT_TRUE(claimed(index(), url_));
  disk().purge(key_of_block(url_, 7, 0), {});
  disk().lose_block(key_for(url_), 7);
  settle();
  EXPECT_FALSE(claimed(index(), url_));
  ASSERT_TRUE(scene().append(selector(url_, 0, 0)));
  EXPECT_TRUE(claimed(index(), url_)) << "for what is no object";
}

TEST_F(Objects, LoseTheirClaimForGoodWithTheFirstBlockThatIsReclaimed) {
  put_blocks(url_, 7);
  ASSERT_TRUE(scene().append(object(url_, 7)));
  kept_ = {key_of_block(url_, 7, 1), key_of_block(url_, 7, 2)};
  reclaim_one();
  EXPECT_FALSE(claimed(index(), url_));
  EXPECT_FALSE(holds(index(), url_, 7, 0));
  EXPECT_TRUE(holds(index(), url_, 7, 1));
  EXPECT_TRUE(holds(index(), url_, 7, 2));
  restart();
  EXPECT_FALSE(claimed(index(), url_));
  EXPECT_TRUE(index().find(key_for(url_)));
}

TEST_F(Objects, KeepTheirClaimWhereAllBlocksAreCopied) {
  put_blocks(url_, 7);
  ASSERT_TRUE(scene().append(object(url_, 7)));
  for (std::uint32_t number = 0; number < kBlocks; ++number) {
    kept_.insert(key_of_block(url_, 7, number));
  }
  reclaim_all_there_is();
  EXPECT_TRUE(claimed(index(), url_));
  restart();
  EXPECT_TRUE(claimed(index(), url_));
  EXPECT_EQ(*scene().body(key_of_block(url_, 7, 3), url_), body_text(url_, 2000));
}

TEST_F(Objects, StayAsLongAsABlockDoes) {
  ASSERT_TRUE(scene().append(object(url_, 7)));
  put_blocks(url_, 7);
  kept_ = {key_of_block(url_, 7, 3)};
  reclaim_all_there_is();
  EXPECT_TRUE(index().find(key_for(url_)));
  EXPECT_TRUE(holds(index(), url_, 7, 3));
  kept_.clear();
  reclaim_all_there_is();
  reclaim_all_there_is();
  EXPECT_FALSE(index().find(key_for(url_)));
  EXPECT_FALSE(holds(index(), url_, 7, 3));
}

TEST_F(Objects, LeaveNoOrphanedBlocks) {
  const std::string purged = url_ + "-purged";
  for (const auto& url : {url_, purged}) {
    ASSERT_TRUE(scene().append(object(url, 7)));
    put_blocks(url, 7);
    for (std::uint32_t number = 0; number < kBlocks; ++number) {
      kept_.insert(key_of_block(url, 7, number));
    }
  }
  ASSERT_TRUE(scene().append(object(url_, 8)));
  ASSERT_TRUE(scene().purge(key_for(purged)));
  reclaim_all_there_is();
  for (std::uint32_t number = 0; number < kBlocks; ++number) {
    EXPECT_FALSE(holds(index(), url_, 7, number)) << number;
    EXPECT_FALSE(holds(index(), purged, 7, number)) << number;
  }
}

TEST_F(Objects, AreNotClaimedAfterAStartThatLostSegments) {
  put_blocks(url_, 7);
  reclaim_all_there_is();  // so that the object lies in another segment, behind
  put_blocks(url_, 7);
  begin_a_segment();
  ASSERT_TRUE(scene().append(object(url_, 7)));
  ASSERT_TRUE(claimed(index(), url_));
  damage_the_segment_of(key_of_block(url_, 7, 0));
  EXPECT_TRUE(index().find(key_for(url_)));
  EXPECT_FALSE(claimed(index(), url_));
  restart();
  EXPECT_FALSE(claimed(index(), url_));
}

TEST_F(Objects, OfAVariantAreNotClaimedAfterAStartThatLostSegments) {
  put_blocks(url_, 7);
  begin_a_segment();
  NewRecord variant = object(url_, 7);
  variant.header.key = key_for("what a selector makes of the URL");
  variant.header.claimable_until = 0;
  ASSERT_TRUE(scene().append(variant));
  ASSERT_TRUE(scene().append(selector(url_, 7)));
  const std::string small = url_number(2);
  ASSERT_TRUE(scene().append(selector(small, 0, 0)));
  ASSERT_TRUE(claimed(index(), url_));
  damage_the_segment_of(key_of_block(url_, 7, 0));
  EXPECT_FALSE(claimed(index(), url_));
  EXPECT_TRUE(claimed(index(), small));
  restart();
  EXPECT_FALSE(claimed(index(), url_));
}

// If a start claims an object, it finds all of its blocks, whatever was stored and dropped before.
// That also holds after a kill in the middle of reclaiming, when LogLimits::keep is called, and
// right after.
TEST(ObjectsCrash, NeverLeavesAClaimWithoutItsBlocks) {
  const TemporaryDirectory directory;
  Options options = small_options(directory / "cache");
  options.log.segment_bytes = 16 * 1024;
  options.log.bytes = 16 * 16 * 1024;
  std::mt19937 random(5);
  std::uint64_t claims = 0;
  int looked = 0;
  const auto look = [&] {
    std::filesystem::remove_all(directory / "copy");
    std::filesystem::copy(directory / "cache", directory / "copy");
    Options copied = options;
    copied.path = directory / "copy";
    copied.log.keep = [](const Key&, const Location&) { return true; };
    Scene scene(copied);
    ++looked;
    for (std::uint64_t i = 0; i < 12; ++i) {
      const auto url = url_number(i);
      if (!claimed(scene->catalog().index, url)) continue;
      ++claims;
      const auto place = scene->catalog().index.find(key_for(url));
      const auto stored = scene->open(key_for(url), *place, Wait::yes);
      ASSERT_TRUE(stored);
      const auto version = stored->header().version;
      for (std::uint32_t number = 0; number < kBlocks; ++number) {
        ASSERT_TRUE(scene.body(key_of_block(url, version, number), url)) << url << ' ' << number;
      }
    }
  };
  std::mt19937 chance(6);  // used by the writer's thread only
  options.log.keep = [&](const Key&, const Location&) {
    if (chance() % 8 == 0) look();
    return chance() % 3 == 0;
  };
  Alone alone(options);
  std::map<std::string, std::uint64_t> versions;
  for (std::uint64_t step = 1; step < 2000 && !testing::Test::HasFailure(); ++step) {
    const auto url = url_number(random() % 12);
    auto& version = versions[url];
    if (version == 0 || random() % 30 == 0) {
      version = step;
      ASSERT_TRUE(alone.log.append(object(url, version)));
    }
    const auto number = static_cast<std::uint32_t>(random() % kBlocks);
    ASSERT_TRUE(alone.log.append(block(url, version, number, 1000)));
    if (random() % 3 == 0) {
      ASSERT_TRUE(alone.log.append(object(url, version)));
    }
    if (random() % 8 == 0) look();
  }
  EXPECT_GT(looked, 200);
  EXPECT_GT(claims, 300U);
}

// Records that are stored meanwhile wait for the step to end, and the disk may be slow.
TEST(ManyObjects, AreReviewedAFewAtATime) {
  const TemporaryDirectory directory;
  Alone alone(small_options(directory.path()));
  constexpr std::size_t kMany = 2 * Step::kEntries + 10;
  const auto claimed_now = [&] {
    std::size_t count = 0;
    for (std::uint64_t i = 0; i < kMany; ++i) count += claimed(alone.index, url_number(i)) ? 1 : 0;
    return count;
  };
  for (std::uint64_t i = 0; i < kMany; ++i) {
    ASSERT_TRUE(alone.log.append(object(url_number(i), 7, 1)));
    ASSERT_TRUE(alone.log.append(block(url_number(i), 7, 0, 10)));
    alone.log.doubt(key_for(url_number(i)), 7);
  }
  for (std::size_t before = 0; before < kMany;) {
    const auto more = alone.log.settle_claims();
    ASSERT_TRUE(more);
    const auto now = claimed_now();
    ASSERT_GT(now, before);
    EXPECT_LE(now - before, Step::kEntries);
    EXPECT_EQ(*more, now < kMany);
    before = now;
  }
}

// The object's record is small, but leads to blocks that may be gigabytes.
TEST(AnObject, StaysThoughCopiesOfUsedEntriesTakeAllTheRoom) {
  const TemporaryDirectory directory;
  Options options = small_options(directory.path());
  options.log.keep = [](const Key&, const Location&) { return true; };
  Alone alone(options);
  const std::string large = "http://large.example/" + std::string(300, 'x');
  std::uint64_t number = 0;
  const auto append = [&](std::size_t bytes) {
    const std::string url = url_number(++number);
    return alone.log.append(response(url, body_text(url, bytes)));
  };
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(append(4000));
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(append(1));
  ASSERT_TRUE(alone.log.append(object(large, 1)));
  while (alone.counters.reclaimed == 0) ASSERT_TRUE(append(4000));
  EXPECT_GT(alone.counters.evicted, 0U) << "there was no room for all";
  EXPECT_TRUE(alone.index.find(key_for(large)));
}

}  // namespace
}  // namespace proxy::cache::disk
