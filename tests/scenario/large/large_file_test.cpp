// Blocks that are sent from the disk's files, without passing through our memory.
#include <algorithm>
#include <filesystem>
#include <set>

#include "tests/scenario/large/large_scene.hpp"

namespace scenario {
namespace {

// An object that only the disk has. Its first block is read into memory for each response.
struct InFiles : LargeScene {
  explicit InFiles(std::uint64_t mebibytes, const char* disk = "512MiB")
      : LargeScene(mebibytes * kMiB, "64MiB", disk) {
    get();
    settle(mebibytes + 1);
    restart();
  }
  double memory() { return proxy().metric("hearsay_memory_used_bytes"); }
};

TEST(BlocksInFiles, AreHitsFromDiskAndTakeNoMemory) {
  InFiles scene(8);
  const auto before = scene.memory();
  for (int i = 0; i < 2; ++i) {
    const Response hit = scene.get();
    scene.expect_whole(hit);
    EXPECT_TRUE(is_hit(hit));
    EXPECT_TRUE(await([&] { return scene.how("/a") == "TCP_HIT"; })) << scene.how("/a");
    EXPECT_GT(scene.proxy().logged(scene.origin.url("/a")).bytes, 8 * kMiB);
  }
  EXPECT_LT(scene.memory(), before + 2 * kMiB);
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(BlocksInFiles, AnswerRangesThatBeginAndEndWithinBlocks) {
  InFiles scene(6);
  EXPECT_TRUE(scene.get("500000-5500000").body == pattern(500'000, 5'000'001));
  const Response parts = scene.get("10-20,1048570-4194310");
  EXPECT_EQ(parts.status, 206);
  EXPECT_TRUE(contains(parts.body, pattern(1'048'570, 3'145'741)));
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(BlocksInFiles, OutliveTheirSegmentForASlowClient) {
  InFiles scene(24, "64MiB");
  Client client(scene.proxy().port());
  client.send(request_text("GET", scene.origin.url("/a")));
  Response slow = client.read_head();
  std::set<std::filesystem::path> segments;
  for (const auto& item : std::filesystem::directory_iterator(scene.directory())) {
    if (item.path().extension() == ".segment") segments.insert(item.path());
  }
  scene.origin.otherwise([&](const Request&) { return cacheable(pattern(0, 3'000'000, 2)); });
  int more = 0;
  ASSERT_TRUE(await([&] {
    scene.DiskScene::get("/more/" + std::to_string(++more));
    return std::none_of(segments.begin(), segments.end(),
                        [](const auto& path) { return std::filesystem::exists(path); });
  }));
  client.read_rest(slow);
  scene.expect_whole(slow);
}

}  // namespace
}  // namespace scenario
