#include "proxy/cache/disk/write_queue.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/cache/disk/scene.hpp"

namespace proxy::cache::disk {
namespace {

constexpr std::chrono::nanoseconds kAtOnce{0};

// A queue whose writer is this test.
struct AQueue : testing::Test {
  AQueue() { watch.work(); }

  const Options options = small_options("unused");
  Catalog catalog{running_clock()};
  WriterWatch watch{running_clock(), std::chrono::seconds(1)};
  WriteQueue queue{options, catalog, watch};
};

TEST_F(AQueue, TakesNoResponseOnceItsWriterIsToEnd) {
  EXPECT_TRUE(queue.append(response("http://a.test/", "x")));
  queue.stop();
  EXPECT_EQ(queue.append(response("http://b.test/", "x")).error(), Error::resting);
  const auto batch = queue.take(kAtOnce);
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->records.size(), 1U);
  EXPECT_FALSE(queue.take(kAtOnce));
}

TEST_F(AQueue, EndsThoughPurgesGoOnAndKeepsThemForTheNextStart) {
  std::vector<Error> told;
  const auto purge = [&](const std::string& url) {
    queue.purge({.header = {.kind = RecordKind::purge, .key = key_for(url)},
                 .url = {},
                 .head = {},
                 .done = [&](Result<Position> at) { told.push_back(at.error()); }});
  };
  purge("http://a.test/");
  queue.stop();
  ASSERT_TRUE(queue.take(kAtOnce));
  purge("http://b.test/");
  EXPECT_FALSE(queue.take(kAtOnce));
  EXPECT_TRUE(told.empty());
  queue.end();
  EXPECT_EQ(told.size(), 1U) << "nobody waits for the next start";
  purge("http://c.test/");
  EXPECT_EQ(told.size(), 2U);
  queue.open();
  const auto batch = queue.take(kAtOnce);
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->records.size(), 2U);
}

}  // namespace
}  // namespace proxy::cache::disk
