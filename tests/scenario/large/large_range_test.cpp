// The bytes of a 206 are kept, whichever way the client asked for them.
#include <gtest/gtest.h>

#include "tests/scenario/large/large_scene.hpp"

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

// A 206 to If-Range may lack most fields of the whole (RFC 9110 section 15.3.7).
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

TEST(LargeRange, AResumeOfAnUnstorableObjectIsForwardedUnchanged) {
  LargeScene scene(20 * kMiB);
  scene.cache_control = "no-store";
  scene.expect_part(scene.get("3000000-3099999", if_range("\"v1\"")), {3'000'000, 3'099'999});
  scene.expect_whole(scene.get("3000000-3099999", if_range("\"v0\"")));
  scene.expect_whole(scene.get("30000000-", if_range("\"v0\"")));
  EXPECT_EQ(scene.get("30000000-", if_range("\"v1\"")).status, 416);
}

// The ranges cover more than half of each block. For less, the rest of a block may not be fetched.
TEST(LargeRange, SeveralBringTheBlocksOfAll) {
  LargeScene scene(20 * kMiB);
  scene.get("5-9");  // tells the length
  for (int i = 0; i < 2; ++i) {
    const Response parts = scene.get("9000000-9099999,0-599999");
    EXPECT_EQ(parts.status, 206);
    EXPECT_TRUE(parts.whole);
    EXPECT_TRUE(contains(parts.field("Content-Type"), "multipart/byteranges"));
    EXPECT_TRUE(contains(parts.body, pattern(9'000'000, 100'000)));
    EXPECT_TRUE(contains(parts.body, pattern(0, 600'000)));
  }
  EXPECT_EQ(scene.asked(), (Asked{"bytes=5-9", "bytes=8388608-9437183", "bytes=0-1048575"}));
}

TEST(LargeRange, SeveralOfAnUnstorableObjectAreForwardedUnchanged) {
  LargeScene scene(20 * kMiB);
  scene.cache_control = "no-store";
  scene.origin.on("/a", [&scene](const Request& request) {
    const bool several = contains(request.field("Range"), ",");
    return several ? scene.described(Reply(206)).body("both") : scene.answer(request);
  });
  EXPECT_EQ(scene.get("9000000-9099999,0-99999").body, "both");
  EXPECT_EQ(scene.get("30000000-30099999,0-99999").body, "both") << "one begins behind the end";
}

// The proxy does not know beforehand where the suffix begins, so it fetches the rest of its first
// block, too.
TEST(LargeRange, TheEndOfAColdObjectIsKept) {
  LargeScene scene(20 * kMiB);
  for (int i = 0; i < 2; ++i) {
    scene.expect_part(scene.get("-10000000"), {20 * kMiB - 10'000'000, 20 * kMiB - 1});
  }
  EXPECT_EQ(scene.asked(), (Asked{"bytes=-10000000", "bytes=10485760-11534335"}));
  EXPECT_TRUE(is_hit(scene.get("11534336-")));
}

// With little memory, objects below the usual size of large ones are kept in blocks, too.
TEST(LargeRange, WithLittleMemorySmallerObjectsAreKeptInBlocksToo) {
  LargeScene scene(3'000'000, "16MiB");
  scene.expect_whole(scene.get());
  scene.expect_whole(scene.get());
  EXPECT_EQ(scene.origin.count(), 1U);
}

}  // namespace
}  // namespace scenario
