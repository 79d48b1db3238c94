// Many clients of a large object that is stored, with little memory. HEARSAY_CLIENTS sets how many.
#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <thread>

#include "tests/scenario/large/large_scene.hpp"

namespace scenario {
namespace {

constexpr std::uint64_t kSize = 40 * kMiB;

// The object is on disk, and never fetched again. A small response is stored, too.
struct HeldScene : LargeScene {
  explicit HeldScene(const char* memory) : LargeScene(kSize, memory) {
    origin.otherwise([](const Request& request) { return cacheable("of " + request.path); });
    for (int i = 0; i < 10 && disk("blocks") * kMiB < kSize; ++i) {  // the disk may be slow
      if (i > 0) restart();
      expect_whole(LargeScene::get());
      EXPECT_TRUE(await([&] { return disk("queued_bytes") == 0; }));
    }
    DiskScene::get("/small");
    asked_ = origin.count("/a");
  }
  // Clients that request more than the sockets buffer, and do not read.
  void ask_without_reading(std::uint64_t clients) {
    for (std::uint64_t i = 0; i < clients; ++i) {
      auto& client = idle_.emplace_back(proxy().port());
      const auto range = "bytes=" + std::to_string(i % 20 * kMiB) + '-';
      client.send(request_text("GET", origin.url("/a"), {{"Range", range}}));
      if (i >= 4) continue;
      EXPECT_EQ(client.read_head().status, 206);
    }
  }
  bool was_asked_for() const { return origin.count("/a") > asked_; }
  double memory() { return proxy().metric("hearsay_memory_used_bytes"); }

 private:
  std::deque<Client> idle_;
  std::size_t asked_ = 0;
};

TEST(LargeRoom, IsNotUsedUpByClientsThatDoNotRead) {
  HeldScene scene("32MiB");
  scene.ask_without_reading(setting("HEARSAY_CLIENTS", 60));
  EXPECT_LE(await_halt([&] { return scene.memory(); }), 32.0 * kMiB);
  EXPECT_TRUE(is_hit(scene.DiskScene::get("/small")));
  EXPECT_EQ(scene.DiskScene::get("/new").body, "of /new");
  EXPECT_TRUE(is_hit(scene.DiskScene::get("/new")));
  EXPECT_FALSE(scene.was_asked_for()) << "what is held is not fetched";
}

TEST(LargeRoom, OfClientsThatDoNotReadGoesToThoseThatWait) {
  HeldScene scene("32MiB");
  scene.ask_without_reading(18);
  const auto begun = std::chrono::steady_clock::now();
  scene.expect_whole(scene.LargeScene::get());
  EXPECT_LT(std::chrono::steady_clock::now() - begun, allowed(std::chrono::seconds(25)));
  EXPECT_FALSE(scene.was_asked_for());
}

TEST(LargeRoom, ForFewerThanReadMakesNoClientFetchStoredBlocks) {
  HeldScene scene("16MiB");
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (std::uint64_t i = 0; i < setting("HEARSAY_CLIENTS", 24); ++i) {
    threads.emplace_back([&scene, &wrong, i] {
      std::mt19937_64 random(i);
      for (int round = 0; round < 3; ++round) {
        const auto first = random() % (kSize - 8 * kMiB);
        const Span span{first, first + 8 * kMiB - 1};
        const auto range = std::to_string(span.first) + '-' + std::to_string(span.second);
        const Response part = scene.LargeScene::get(range);
        const bool right = part.status == 206 && part.body == pattern(first, 8 * kMiB);
        if (!right) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
  EXPECT_FALSE(scene.was_asked_for());
}

// Each client has a connection upstream, and there is room for the bytes of few.
TEST(LargeRoom, BoundsFetchedBytesForClientsThatDoNotReadToo) {
  LargeScene scene(kSize, "32MiB");
  scene.origin.otherwise([&](const Request&) { return scene.whole(); });
  std::deque<Client> idle;
  for (int i = 0; i < 20; ++i) {
    const auto url = scene.origin.url("/idle" + std::to_string(i));
    idle.emplace_back(scene.proxy().port()).send(request_text("GET", url));
  }
  const auto memory = [&] { return scene.proxy().metric("hearsay_memory_used_bytes"); };
  EXPECT_LE(await_halt(memory), 32.0 * kMiB);
  scene.origin.on("/small", [](const Request&) { return cacheable("small"); });
  EXPECT_EQ(scene.DiskScene::get("/small").body, "small");
}

TEST(LargeRoom, IsLoggedAsFilledFromDiskIfItWas) {
  HeldScene scene("16MiB");
  scene.restart();
  EXPECT_TRUE(is_hit(scene.LargeScene::get("0-99999")));
  EXPECT_TRUE(await([&] { return scene.how("/a") == "TCP_HIT"; }));
  EXPECT_TRUE(is_hit(scene.LargeScene::get("0-99999")));
  EXPECT_TRUE(await([&] { return scene.how("/a") == "TCP_MEM_HIT"; }));
  EXPECT_TRUE(is_hit(scene.LargeScene::get("0-1999999")));
  EXPECT_TRUE(await([&] { return scene.how("/a") == "TCP_HIT"; })) << "the second block";
}

}  // namespace
}  // namespace scenario
