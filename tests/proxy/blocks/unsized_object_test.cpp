#include "proxy/blocks/unsized_object.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/tiers/cache_scene.hpp"

namespace proxy::blocks {
namespace {

constexpr auto kWholeBlock = cache::kBlockBytes;

// A body without a length arrives.
struct UnsizedScene : tiers::CacheScene {
  UnsizedScene() : tiers::CacheScene(tiers::Over::disk) {}

  tiers::BlockKept add(std::uint64_t bytes) {
    const auto size = static_cast<std::uint32_t>(bytes);
    const auto kept = growing.add({cache::Block::make(budget, size), size});
    if (kept == tiers::BlockKept::no) return kept;
    while (growing.has_full_block())
      if (growing.store_block() == tiers::BlockKept::no) return tiers::BlockKept::no;
    return tiers::BlockKept::yes;
  }
  // The numbers of the blocks that are stored.
  std::string stored(const cache::Entry& object) {
    std::string numbers;
    for (std::uint32_t number = 0; number < 9; ++number)
      if (cache.has_block(key, object, number)) numbers += std::to_string(number);
    return numbers;
  }

  const std::string url = "http://a.test/unsized";
  const digest::Key key = cache::key_of(url);
  const cache::Request asked;
  const cache::Response response{"ETag: \"v1\"\r\nCache-Control: max-age=600\r\n"};
  const cache::Received head{
      url, asked.head.fields, response.head, {clock.now(), clock.now()}, "us"};
  UnsizedObject growing{cache, key, head};
};

TEST(UnsizedObject, KeepsNoBlockOfASmallBody) {
  UnsizedScene scene;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(scene.add(kWholeBlock), tiers::BlockKept::yes);
  EXPECT_FALSE(scene.growing.large()) << "it may yet be stored as a whole";
  EXPECT_FALSE(scene.growing.noted() || scene.growing.due());
  EXPECT_EQ(scene.growing.room(), kWholeBlock);
}

TEST(UnsizedObject, KeepsTheBlocksOfALargeOne) {
  UnsizedScene scene;
  for (int i = 0; i < 4; ++i) scene.add(kWholeBlock);
  EXPECT_EQ(scene.add(100), tiers::BlockKept::yes);
  EXPECT_TRUE(scene.growing.large());
  EXPECT_EQ(scene.growing.room(), kWholeBlock - 100);
  const auto whole = scene.growing.finish(scene.head);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->body.size, 4 * kWholeBlock + 100);
  EXPECT_FALSE(whole->range()) << "it is all of the object";
  EXPECT_EQ(scene.stored(*whole), "01234");
}

TEST(UnsizedObject, IsToBeNotedEveryFewBlocks) {
  UnsizedScene scene;
  for (int i = 0; i < 4; ++i) scene.add(kWholeBlock);
  EXPECT_FALSE(scene.growing.due());
  scene.add(100);
  ASSERT_TRUE(scene.growing.due());
  const auto begun = scene.growing.begun(scene.head);
  EXPECT_TRUE(scene.growing.noted());
  EXPECT_FALSE(scene.growing.due());
  ASSERT_TRUE(begun->range());
  EXPECT_EQ(begun->range()->range, (http::ByteRange{0, 4 * kWholeBlock - 1}));
  EXPECT_FALSE(begun->range()->complete) << "nobody knows its length";
  EXPECT_EQ(scene.stored(*begun), "0123");
  scene.add(kWholeBlock - 100);
  EXPECT_FALSE(scene.growing.due()) << "one more";
}

TEST(UnsizedObject, EndsWhereNoObjectMayBeSoLarge) {
  UnsizedScene scene;
  scene.tiers.max_object = 4 * kWholeBlock + 50;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(scene.add(kWholeBlock), tiers::BlockKept::yes);
  EXPECT_EQ(scene.add(50), tiers::BlockKept::yes);
  EXPECT_FALSE(scene.growing.too_large());
  EXPECT_EQ(scene.add(1), tiers::BlockKept::no);
  EXPECT_TRUE(scene.growing.too_large());
}

}  // namespace
}  // namespace proxy::blocks
