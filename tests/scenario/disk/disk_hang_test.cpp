// A disk that hangs, a slow one, and one that has become read-only.
#include <future>

#include "tests/scenario/disk/cache_pages.hpp"
#include "tests/scenario/disk/failing_disk.hpp"
#include "tests/scenario/large/large_scene.hpp"

namespace scenario {
namespace {

TEST_F(ADiskThatFails, ByHangingHoldsOneRequestUpBrieflyAndIsReadAgainWhenItAnswers) {
  store_on_disk({"/a", "/b", "/c"});
  ASSERT_TRUE(await([&] { return scene_.proxy().digest().at("entries") == 3; }));
  faults_.begin("reads_hang");
  EXPECT_LT(fetch("/a"), allowed(std::chrono::seconds(10))) << "from the origin";
  EXPECT_EQ(scene_.disk("slow_reads_total"), 1);
  EXPECT_TRUE(rests("does not answer"));
  EXPECT_LT(fetch("/b"), allowed(std::chrono::milliseconds(1500))) << "without a look at the disk";
  EXPECT_EQ(scene_.origin.count(), 5U);
  EXPECT_FALSE(scene_.holds("/c"));
  EXPECT_TRUE(await([&] { return scene_.proxy().digest().at("entries") == 2; })) << "in memory";
  faults_.end("reads_hang");
  EXPECT_TRUE(works());
  EXPECT_TRUE(scene_.holds("/c"));
  EXPECT_TRUE(await([&] { return scene_.proxy().digest().at("entries") == 3; }));
}

TEST_F(ADiskThatFails, ByHangingDoesNotHoldUpTheHitBefore) {
  store_on_disk({"/a", "/b"});
  ASSERT_EQ(scene_.get("/a").body, "of /a");  // now in memory
  faults_.begin("reads_hang");
  Client client(scene_.proxy().port());
  client.send(request_text("GET", scene_.origin.url("/a")) +
              request_text("GET", scene_.origin.url("/b")));
  const auto begun = Steady::now();
  EXPECT_EQ(client.read().body, "of /a");
  const auto first = Steady::now() - begun;
  EXPECT_EQ(client.read().body, "of /b");
  EXPECT_LT(first * 2, Steady::now() - begun) << "the second waited for the disk";
  faults_.end("reads_hang");
}

TEST_F(ADiskThatFails, ByHangingDoesNotHoldUpAPurgeNorTheEnd) {
  store_on_disk({"/a"});
  faults_.begin("writes_hang");
  const Response purge = scene_.ask("PURGE", "/a", kOnPurpose);
  EXPECT_EQ(purge.body, "{\"purged\": 1, \"owed\": true}\n");
  EXPECT_FALSE(scene_.holds("/a"));
  fetch("/b");
  EXPECT_TRUE(is_hit(scene_.get("/b")));
  EXPECT_TRUE(rests("does not answer"));
  const auto begun = Steady::now();
  const Response known = scene_.ask("PURGE", "/b", kOnPurpose);
  EXPECT_EQ(known.body, "{\"purged\": 1, \"owed\": true}\n");
  EXPECT_EQ(scene_.ask("POST", "/a", {}, "x").status, 200);
  EXPECT_LT(Steady::now() - begun, allowed(std::chrono::seconds(3))) << "nobody waits any more";
  EXPECT_EQ(scene_.proxy().terminate(), 0);
  EXPECT_TRUE(contains(scene_.proxy().process().errors(), "ended without it"));
  faults_.end("writes_hang");
}

TEST_F(ADiskThatFails, ByHangingWhileItIsReadDoesNotHoldUpTheEnd) {
  store_on_disk({"/a"});
  faults_.begin("reads_hang");
  fetch("/a");
  EXPECT_EQ(scene_.proxy().terminate(), 0);
  faults_.end("reads_hang");
}

TEST_F(ADiskThatFails, ByHangingAtTheStartIsDoneWithoutUntilItAnswers) {
  store_on_disk({"/a", "/b"});
  scene_.end();
  faults_.begin("reads_hang");
  scene_.begin();
  EXPECT_TRUE(rests("does not answer"));
  fetch("/c");
  EXPECT_TRUE(is_hit(scene_.get("/c"))) << "from memory";
  EXPECT_FALSE(scene_.holds("/a"));
  EXPECT_TRUE(await([&] { return scene_.proxy().digest().at("entries") == 1; }));
  faults_.end("reads_hang");
  EXPECT_TRUE(works());
  EXPECT_TRUE(contains(scene_.proxy().process().errors(), "is back, with 2 entries"));
  EXPECT_TRUE(scene_.holds("/a"));
  EXPECT_TRUE(scene_.holds("/b"));
  EXPECT_TRUE(await([&] { return scene_.proxy().digest().at("entries") == 3; }));
}

TEST_F(ADiskThatFails, ByHangingAtTheStartDoesNotHoldUpTheEnd) {
  store_on_disk({"/a"});
  scene_.end();
  faults_.begin("reads_hang");
  scene_.begin();
  EXPECT_EQ(scene_.proxy().terminate(), 0);
  faults_.end("reads_hang");
  scene_.begin();
  EXPECT_TRUE(scene_.holds("/a"));
}

TEST_F(ADiskThatFails, ByBeingSlowStillStoresWithinASecondDuringASearch) {
  store_on_disk(numbered_paths(500));
  faults_.begin("reads_slow");
  const json order{{"prefix", scene_.origin.url("/")}};
  const auto purge = ask_page(scene_.proxy(), "POST", "/admin/purge", kOnPurpose, order.dump());
  ASSERT_EQ(purge.status, 200) << purge.body;
  const auto before = scene_.disk("stored_total");
  fetch("/new");
  const auto is_stored = [&] { return scene_.disk("stored_total") > before; };
  EXPECT_TRUE(await(is_stored, allowed(std::chrono::seconds(1))));
  EXPECT_GT(scene_.disk("entries"), 100) << "it is searched yet, for five seconds";
  faults_.end("reads_slow");
  scene_.crash();
  EXPECT_TRUE(scene_.holds("/new"));
  EXPECT_FALSE(scene_.holds("/1"));
}

TEST(ASlowDisk, HoldsALargeBodyUpBrieflyAndGetsTheRestTheNextTime) {
  DiskFaults faults;
  LargeScene scene(24 * kMiB, "16MiB");
  faults.begin("writes_slow");
  const auto begun = Steady::now();
  scene.expect_whole(scene.get());
  EXPECT_LT(Steady::now() - begun, allowed(std::chrono::seconds(12))) << "written in 24";
  faults.end("writes_slow");
  EXPECT_TRUE(await([&] { return scene.disk("queued_bytes") == 0; }));
  const auto sent = scene.origin.body_bytes_sent();
  scene.expect_whole(scene.get());
  EXPECT_LT(scene.origin.body_bytes_sent() - sent, scene.size) << "what it has is not fetched";
}

TEST(ASlowDisk, AcceptsWhatItWritesSoonAndWritesAPurgeAfterThat) {
  DiskFaults faults;
  faults.begin("writes_slow");
  LargeScene scene(24 * kMiB);
  scene.origin.otherwise([](const Request&) { return cacheable(std::string(64'000, 'x')); });
  for (int i = 0; i < 60; ++i) scene.DiskScene::get("/early/" + std::to_string(i));
  EXPECT_TRUE(await([&] { return scene.disk("queued_bytes") == 0; })) << "its pace is known now";
  auto large = std::async(std::launch::async, [&] { scene.expect_whole(scene.get()); });
  for (int i = 0; i < 300; ++i) scene.DiskScene::get('/' + std::to_string(i));
  EXPECT_GT(scene.disk("busy_total"), 0) << "19 MiB";
  auto begun = Steady::now();
  const Response purge = scene.ask("PURGE", "/0", kOnPurpose);
  EXPECT_EQ(purge.body, "{\"purged\": 1}\n") << "and is not owed";
  EXPECT_LT(Steady::now() - begun, allowed(std::chrono::seconds(4))) << "behind what it took";
  large.get();
  begun = Steady::now();
  EXPECT_TRUE(await([&] { return scene.disk("queued_bytes") == 0; }));
  EXPECT_LT(Steady::now() - begun, allowed(std::chrono::seconds(4)));
  EXPECT_GT(scene.disk("stored_total"), 70) << "what it can";
  scene.crash();
  EXPECT_FALSE(scene.holds("/0"));
}

// New records wait until the copies are written.
TEST(ASlowDisk, CopiesNoMoreUsedEntriesThanItWritesSoon) {
  DiskFaults faults;
  LargeScene scene(kMiB, "16MiB", "64MiB");
  scene.origin.otherwise([](const Request&) { return cacheable(std::string(64'000, 'x')); });
  for (int i = 0; i < 1'800; ++i) scene.DiskScene::get('/' + std::to_string(i % 900));
  faults.begin("writes_slow");
  const double reclaimed = scene.disk("reclaimed_total");
  const double copied = scene.disk("reinserted_bytes_total");
  int next = 1'000;
  const auto one_goes = [&] {
    scene.DiskScene::get('/' + std::to_string(next++));
    return scene.disk("reclaimed_total") > reclaimed;
  };
  ASSERT_TRUE(await(one_goes, 2 * kPatience));
  const double copies = scene.disk("reinserted_bytes_total") - copied;  // read before the segments
  const double segments = scene.disk("reclaimed_total") - reclaimed;
  EXPECT_LE(copies, segments * 1.25 * kMiB);
  EXPECT_GT(scene.disk("reinserted_bytes_total"), copied) << "what it can";
}

TEST_F(ADiskThatFails, ByBeingReadOnlyIsReadAndWrittenAgainWhenItMayBe) {
  store_on_disk({"/a", "/b"});
  faults_.begin("read_only");
  fetch("/c");
  EXPECT_TRUE(rests("may not be written"));
  EXPECT_TRUE(is_hit(scene_.get("/a"))) << "from the disk";
  EXPECT_TRUE(is_hit(scene_.get("/c"))) << "from memory";
  const Response purge = scene_.ask("PURGE", "/b", kOnPurpose);
  EXPECT_EQ(purge.body, "{\"purged\": 1, \"owed\": true}\n");
  faults_.end("read_only");
  EXPECT_TRUE(works());
  const auto stored = static_cast<std::size_t>(scene_.disk("stored_total"));
  fetch("/d");
  scene_.settle(stored + 1);
  scene_.crash();
  EXPECT_TRUE(scene_.holds("/d"));
  EXPECT_FALSE(scene_.holds("/b"));
}

}  // namespace
}  // namespace scenario
