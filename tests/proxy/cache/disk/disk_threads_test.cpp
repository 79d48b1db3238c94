#include <atomic>
#include <latch>
#include <random>
#include <thread>

#include "proxy/cache/disk/read_pool.hpp"
#include "scene.hpp"
#include "tests/support/await.hpp"

namespace proxy::cache::disk {
namespace {

using Posted = ReadPool::Posted;
using support::TemporaryDirectory;

// Several threads read and append, one purges, and the writer reclaims segments meanwhile. Every
// record found is whole and has the URL that was asked for.
TEST(DiskThreads, EveryRecordFoundDuringChangesIsWhole) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  constexpr int kSteps = 400;
  std::atomic<int> found = 0;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 2; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int i = 0; i < kSteps; ++i) {
        const std::string url = url_number(random() % 100);
        (void)scene->append(response(url, body_text(url, random() % 9000)));
        if (i % 20 == 0) scene->purge(key_for(url_number(random() % 100)), {});
        if (i % 50 == 0) (void)scene->purge_prefix(url_number(random() % 100), {});
      }
    });
    threads.emplace_back([&, seed] {
      std::mt19937 random(100 + seed);
      for (int i = 0; i < 2 * kSteps; ++i) {
        const std::string url = url_number(random() % 100);
        const auto body = scene.body(url);
        if (!body) continue;
        found += 1;
        EXPECT_EQ(*body, body_text(url, body->size()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(scene->queue().settle(kPatience));
  EXPECT_EQ(scene->catalog().counters.corrupt, 0U);
  EXPECT_TRUE(scene->state().working);
}

TEST(DiskThreads, APoolRunsAllThatItTook) {
  std::atomic<int> ran = 0;
  {
    ReadPool pool(running_clock(), 3, 1000);
    for (int i = 0; i < 500; ++i) EXPECT_EQ(pool.post([&ran] { ran += 1; }), Posted::yes);
  }
  EXPECT_EQ(ran, 500);
}

TEST(DiskThreads, APoolTellsOfAJobThatHangsAndEndsWhenItIsBack) {
  std::latch go_on(1);
  ReadPool pool(running_clock(), 2, 10);
  EXPECT_FALSE(pool.hangs(std::chrono::milliseconds(0)));
  EXPECT_EQ(pool.post([&] { go_on.wait(); }), Posted::yes);
  EXPECT_FALSE(pool.hangs(std::chrono::hours(1)));
  EXPECT_TRUE(support::await([&] { return pool.hangs(std::chrono::milliseconds(1)); }));
  EXPECT_EQ(pool.end(std::chrono::milliseconds(1)), ReadPool::End::hangs);
  go_on.count_down();
  EXPECT_EQ(pool.end(std::chrono::hours(1)), ReadPool::End::joined);
  EXPECT_FALSE(pool.hangs(std::chrono::milliseconds(0)));
}

TEST(DiskThreads, APoolRefusesMoreThanMayWait) {
  std::latch started(1);
  std::latch go_on(1);
  ReadPool pool(running_clock(), 1, 2);
  const auto first = pool.post([&] {
    started.count_down();
    go_on.wait();
  });
  EXPECT_EQ(first, Posted::yes);
  started.wait();
  EXPECT_EQ(pool.post([] {}), Posted::yes);
  EXPECT_EQ(pool.post([] {}), Posted::yes);
  EXPECT_EQ(pool.post([] {}), Posted::too_many);
  go_on.count_down();
}

}  // namespace
}  // namespace proxy::cache::disk
