// What a 206 brings is kept, in whatever way it was asked for.
#include <gtest/gtest.h>

#include "tests/scenario/large_scene.hpp"

namespace scenario {
namespace {

Fields if_range(const std::string& etag) {
  return {{"If-Range", etag}};
}

using Asked = std::vector<std::string>;

TEST(LargeRange, AResumeBringsTheBlocksOfAColdObject) {
  LargeScene scene(20 * kMiB);
  for (int i = 0; i < 2; ++i) {
    scene.expect_part(scene.get("3000000-", if_range("\"v1\"")), {3'000'000, 20 * kMiB - 1});
  }
  EXPECT_EQ(scene.asked(), Asked{"bytes=2097152-"});
  scene.expect_whole(scene.get());
  EXPECT_EQ(scene.origin.body_bytes_sent(), 20 * kMiB);
}

// The head of what answers If-Range may be short of most of what the whole has.
TEST(LargeRange, AResumeAsksWithoutItsCondition) {
  LargeScene scene(20 * kMiB);
  scene.get("3000000-", if_range("\"v1\""));
  EXPECT_FALSE(scene.origin.requests("/a").front().has("If-Range"));
}

TEST(LargeRange, AResumeOfAnotherVersionGetsTheWhole) {
  LargeScene scene(20 * kMiB);
  scene.expect_whole(scene.get("3000000-", if_range("\"v0\"")));
  EXPECT_EQ(scene.origin.body_bytes_sent(), 20 * kMiB);
  EXPECT_TRUE(is_hit(scene.get()));
}

TEST(LargeRange, AResumeOfWhatIsNotKeptIsAskedForAsItIs) {
  LargeScene scene(20 * kMiB);
  scene.cache_control = "no-store";
  scene.expect_part(scene.get("3000000-3099999", if_range("\"v1\"")), {3'000'000, 3'099'999});
  scene.expect_whole(scene.get("3000000-3099999", if_range("\"v0\"")));
  scene.expect_whole(scene.get("30000000-", if_range("\"v0\"")));
  EXPECT_EQ(scene.get("30000000-", if_range("\"v1\"")).status, 416);
}

// More than half of each block is wanted: less may not be worth it to fetch the rest.
TEST(LargeRange, SeveralOfAColdObjectBringTheBlocksOfAll) {
  LargeScene scene(20 * kMiB);
  for (int i = 0; i < 2; ++i) {
    const Response parts = scene.get("9000000-9099999,0-599999");
    EXPECT_EQ(parts.status, 206);
    EXPECT_TRUE(parts.whole);
    EXPECT_TRUE(contains(parts.field("Content-Type"), "multipart/byteranges"));
    EXPECT_TRUE(contains(parts.body, pattern(9'000'000, 100'000)));
    EXPECT_TRUE(contains(parts.body, pattern(0, 600'000)));
  }
  EXPECT_EQ(scene.asked(), (Asked{"bytes=8388608-9437183", "bytes=0-1048575"}));
}

TEST(LargeRange, SeveralOfWhatIsNotKeptAreAskedForAsTheyAre) {
  LargeScene scene(20 * kMiB);
  scene.cache_control = "no-store";
  scene.origin.on("/a", [&scene](const Request& request) {
    const bool several = contains(request.field("Range"), ",");
    return several ? scene.described(Reply(206)).body("both") : scene.answer(request);
  });
  EXPECT_EQ(scene.get("9000000-9099999,0-99999").body, "both");
  EXPECT_EQ(scene.get("30000000-30099999,0-99999").body, "both") << "one begins behind the end";
}

// Where it begins is not known before, so that the rest of its first block is fetched, too.
TEST(LargeRange, TheEndOfAColdObjectIsKept) {
  LargeScene scene(20 * kMiB);
  for (int i = 0; i < 2; ++i) {
    scene.expect_part(scene.get("-10000000"), {20 * kMiB - 10'000'000, 20 * kMiB - 1});
  }
  EXPECT_EQ(scene.asked(), (Asked{"bytes=-10000000", "bytes=10485760-11534335"}));
  EXPECT_TRUE(is_hit(scene.get("11534336-")));
}

// What memory takes whole is less than what is large elsewhere.
TEST(LargeRange, WhereMemoryIsSmallTheSmallerAreKeptInBlocksToo) {
  LargeScene scene(3'000'000, "16MiB");
  scene.expect_whole(scene.get());
  scene.expect_whole(scene.get());
  EXPECT_EQ(scene.origin.count(), 1U);
}

}  // namespace
}  // namespace scenario
