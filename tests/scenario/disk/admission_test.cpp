// With cache.disk.admit "second" the disk stores a response only at the second request for it.
#include <gtest/gtest.h>

#include "tests/scenario/large/large_scene.hpp"

namespace scenario {
namespace {

const json kSecond{{"cache", {{"disk", {{"admit", "second"}}}}}};

class OnTheSecondRequest : public testing::Test, public DiskScene {
 protected:
  OnTheSecondRequest() : DiskScene(kSecond) {
    origin.otherwise([](const Request& request) { return cacheable("of " + request.path); });
    origin.on("/varying", [](const Request& request) {
      return cacheable("for " + request.field("X-A")).with("Vary", "X-A");
    });
  }
};

TEST_F(OnTheSecondRequest, AResponseIsWrittenThoughMemoryAnswers) {
  get("/once");
  get("/twice");
  EXPECT_EQ(disk("not_admitted_total"), 2);
  EXPECT_TRUE(is_hit(get("/twice")));
  settle(1);
  get("/twice");
  restart();
  EXPECT_TRUE(holds("/twice"));
  EXPECT_EQ(disk("entries"), 1) << "written once";
  EXPECT_FALSE(holds("/once"));
  EXPECT_EQ(origin.requests("/twice").size(), 1U);
}

TEST_F(OnTheSecondRequest, AResponseOnDiskIsRenewedAtOnce) {
  for (int i = 0; i < 2; ++i) get("/a");
  settle(1);
  restart();
  origin.on("/a", cacheable("newer"));
  EXPECT_EQ(get("/a", {{"Cache-Control", "no-cache"}}).body, "newer");
  settle(1);
  restart();
  EXPECT_TRUE(holds("/a"));
  EXPECT_EQ(get("/a").body, "newer");
}

TEST_F(OnTheSecondRequest, RequestsForAllVariantsCountForTheUrl) {
  get("/varying", {{"X-A", "1"}});
  EXPECT_EQ(disk("not_admitted_total"), 1);
  get("/varying", {{"X-A", "2"}});
  settle(2);
  restart();
  EXPECT_TRUE(holds("/varying", {{"X-A", "2"}}));
  EXPECT_FALSE(holds("/varying", {{"X-A", "1"}})) << "it was in memory alone";
}

TEST_F(OnTheSecondRequest, APurgedResponseIsNotWritten) {
  get("/a");
  EXPECT_EQ(json::parse(ask("PURGE", "/a", kOnPurpose).body).at("purged"), 1);
  EXPECT_FALSE(holds("/a"));
  get("/b");
  get("/b");
  settle(1);
  EXPECT_EQ(ask("PURGE", "/b", kOnPurpose).status, 200);
  crash();
  for (const char* path : {"/a", "/b"}) EXPECT_FALSE(holds(path)) << path;
}

TEST_F(OnTheSecondRequest, OnlyStoredResponsesAreClaimed) {
  const auto claimed = [this](std::size_t entries) {
    return await([&] { return proxy().digest().at("entries") == entries; });
  };
  get("/once");
  get("/twice");
  get("/twice");
  EXPECT_TRUE(claimed(2)) << "memory has both";
  settle(1);
  restart();
  EXPECT_TRUE(claimed(1));
}

TEST(LargeOnTheSecondRequest, IsKeptInBlocksFromThenOn) {
  LargeScene scene(20 * kMiB, "64MiB", "512MiB", kSecond);
  scene.expect_whole(scene.get());
  EXPECT_EQ(scene.disk("blocks"), 0);
  EXPECT_FALSE(scene.holds("/a")) << "too large to be written as a whole later";
  scene.expect_whole(scene.get());
  scene.settle(21);
  EXPECT_EQ(scene.disk("blocks"), 20);
  scene.restart();
  scene.expect_whole(scene.get());
  EXPECT_EQ(scene.asked(), (std::vector<std::string>{"", ""}));
}

TEST(LargeOnTheSecondRequest, IsAskedForInBlocksWhereARangeIsWanted) {
  LargeScene scene(20 * kMiB, "64MiB", "512MiB", kSecond);
  scene.expect_part(scene.get("100-99999"), {100, 99'999});
  EXPECT_EQ(scene.asked().back(), "bytes=100-99999") << "no more than what is wanted";
  scene.expect_part(scene.get("5000000-5099999"), {5'000'000, 5'099'999});
  scene.expect_part(scene.get("5000001-5099998"), {5'000'001, 5'099'998});
  scene.settle(2);
  EXPECT_EQ(scene.asked().size(), 2U);
  EXPECT_GE(scene.disk("blocks"), 1);
}

}  // namespace
}  // namespace scenario
