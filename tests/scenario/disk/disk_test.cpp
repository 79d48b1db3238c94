// Stored responses are unchanged after a restart and after a crash.
#include <gtest/gtest.h>

#include "tests/scenario/disk/disk_scene.hpp"

namespace scenario {
namespace {

// True: the proxy is ended by kill -9; false: in order.
class AfterAnEnd : public testing::TestWithParam<bool>, public DiskScene {
 protected:
  void end_and_begin() { GetParam() ? crash() : restart(); }
};
INSTANTIATE_TEST_SUITE_P(Of, AfterAnEnd, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "Crash" : "Restart"; });

TEST_P(AfterAnEnd, WhatWasStoredIsAHitFromDiskAndThenFromMemory) {
  const std::string large = numbered_bytes(700'000);  // large enough for the I/O threads
  origin.on("/small", cacheable("hello").with("X-A", "b").with("ETag", "\"e\""));
  origin.on("/large", cacheable(large));
  origin.on("/empty", cacheable(""));
  for (const char* path : {"/small", "/large", "/empty"}) get(path);
  settle(3);
  end_and_begin();
  const Response hit = get("/small");
  EXPECT_EQ(hit.status, 200);
  EXPECT_EQ(hit.body, "hello");
  EXPECT_EQ(hit.field("X-A"), "b");
  EXPECT_EQ(hit.field("Via"), "1.1 cache-a");
  EXPECT_TRUE(is_hit(hit));
  EXPECT_EQ(how("/small"), "TCP_HIT");
  EXPECT_TRUE(get("/large").body == large);
  EXPECT_EQ(how("/large"), "TCP_HIT");
  EXPECT_EQ(get("/empty").body, "");
  EXPECT_EQ(how("/empty"), "TCP_HIT");
  EXPECT_EQ(get("/small").body, "hello");
  EXPECT_TRUE(await([&] { return how("/small") == "TCP_MEM_HIT"; }));
  EXPECT_TRUE(get("/large").body == large);  // from_file_test.cpp says why it is not in memory
  EXPECT_EQ(origin.count(), 3U);
}

TEST_P(AfterAnEnd, TheKindsOfRequestsAreAnsweredAsFromMemory) {
  origin.on("/a", cacheable("0123456789").with("ETag", "\"e\""));
  get("/a");
  settle(1);
  end_and_begin();
  EXPECT_EQ(get("/a", {{"Range", "bytes=2-4"}}).body, "234");
  end_and_begin();
  EXPECT_EQ(get("/a", {{"If-None-Match", "\"e\""}}).status, 304);
  end_and_begin();
  const Response head = ask("HEAD", "/a");
  EXPECT_EQ(head.field("Content-Length"), "10");
  EXPECT_TRUE(is_hit(head));
  end_and_begin();
  EXPECT_EQ(get("/a", {{"Cache-Control", "only-if-cached"}}).body, "0123456789");
  EXPECT_EQ(get("/b", {{"Cache-Control", "only-if-cached"}}).status, 504);
  EXPECT_EQ(origin.count(), 1U);
}

TEST_P(AfterAnEnd, EachVariantAnswersThoseWhoAskForIt) {
  origin.on("/a", [](const Request& request) {
    return cacheable("for " + request.field("X-A")).with("Vary", "X-A, X-B");
  });
  for (const char* value : {"1", "2"}) get("/a", {{"X-A", value}});
  settle(4);  // two variants, each with its selector
  end_and_begin();
  EXPECT_EQ(get("/a", {{"X-A", "1"}}).body, "for 1");
  EXPECT_EQ(get("/a", {{"X-A", "2"}}).body, "for 2");
  EXPECT_EQ(origin.count(), 2U);
  EXPECT_EQ(get("/a", {{"X-A", "3"}}).body, "for 3");
  EXPECT_EQ(origin.count(), 3U);
  settle(2);
  end_and_begin();
  for (const char* value : {"1", "2", "3"}) EXPECT_TRUE(holds("/a", {{"X-A", value}})) << value;
  EXPECT_FALSE(holds("/a", {{"X-A", "1"}, {"X-B", "1"}}));
  EXPECT_EQ(origin.count(), 3U);
}

TEST_P(AfterAnEnd, WhatIsStaleIsValidatedAndFreshened) {
  origin.on("/a", [](const Request& request) {
    if (request.field("If-None-Match") == "\"v1\"") {
      return Reply(304, {{"ETag", "\"v1\""}, {"Cache-Control", "max-age=60"}, {"X-Round", "2"}});
    }
    return cacheable("hello", "max-age=0").with("ETag", "\"v1\"");
  });
  get("/a");
  settle(1);
  end_and_begin();
  EXPECT_EQ(get("/a").field("X-Round"), "2");
  EXPECT_EQ(origin.count(), 2U);
  const auto before = disk("stored_bytes_total");
  settle(1);
  EXPECT_LT(disk("stored_bytes_total") - before, 1000) << "a head, no body";
  end_and_begin();
  const Response hit = get("/a");
  EXPECT_TRUE(is_hit(hit));
  EXPECT_EQ(hit.body, "hello");
  EXPECT_EQ(hit.field("X-Round"), "2");
  EXPECT_EQ(origin.count(), 2U);
}

TEST_P(AfterAnEnd, ANewVersionHasReplacedTheOld) {
  origin.on("/a", cacheable("old", "max-age=0").with("ETag", "\"v1\""));
  get("/a");
  settle(1);
  origin.on("/a", cacheable("new").with("ETag", "\"v2\""));
  EXPECT_EQ(get("/a").body, "new");
  settle(2);
  end_and_begin();
  EXPECT_EQ(get("/a").body, "new");
  EXPECT_EQ(origin.count(), 2U);
}

TEST_P(AfterAnEnd, TheDigestIsCompleteAtOnce) {
  origin.otherwise([](const Request&) { return cacheable("hello"); });
  origin.on("/varying", cacheable("a").with("Vary", "X-A"));
  origin.on("/short", cacheable("a", "max-age=5"));
  for (int i = 0; i < 30; ++i) get("/" + std::to_string(i));
  for (const char* path : {"/varying", "/short"}) get(path);
  settle(33);
  end_and_begin();
  EXPECT_EQ(proxy().digest().at("entries"), 31);
  get("/0");
  get("/new");
  EXPECT_TRUE(await([&] { return proxy().digest().at("entries") == 32; }));
  Client(proxy().port()).request("PURGE", origin.url("/0"), kOnPurpose);
  Client(proxy().port()).request("PURGE", origin.url("/1"), kOnPurpose);
  EXPECT_TRUE(await([&] { return proxy().digest().at("entries") == 30; }));
}

TEST(DiskTier, HoldsResponsesThatMemoryHasNoRoomForAndClaimsThem) {
  DiskScene scene(json{{"cache", {{"memory", "2MiB"}}}});
  scene.origin.otherwise([](const Request&) { return cacheable(numbered_bytes(50'000)); });
  constexpr int kUrls = 100;
  for (int i = 0; i < kUrls; ++i) scene.get("/" + std::to_string(i));
  scene.settle(kUrls);
  EXPECT_LT(scene.proxy().metric("hearsay_cache_entries"), kUrls / 2);
  EXPECT_TRUE(await([&] { return scene.proxy().digest().at("entries") == kUrls; }));
  for (int i = 0; i < kUrls; ++i) {
    EXPECT_TRUE(scene.get("/" + std::to_string(i)).body == numbered_bytes(50'000)) << i;
  }
  EXPECT_EQ(scene.origin.count(), std::size_t{kUrls});
  EXPECT_EQ(scene.proxy().digest().at("entries"), kUrls);
  EXPECT_LE(scene.proxy().metric("hearsay_memory_used_bytes"), 2 << 20);
}

// The system's page cache has these responses, too, so a look at each of them once displaces none
// of those in memory.
TEST(DiskTier, HitsDisplaceNothingInMemoryUntilTheyReturn) {
  DiskScene scene(json{{"cache", {{"memory", "4MiB"}}}});
  scene.origin.otherwise([](const Request&) { return cacheable(numbered_bytes(10'000)); });
  constexpr int kUrls = 1000;
  const auto get = [&](int i) { return scene.get("/" + std::to_string(i)); };
  for (int i = 0; i < kUrls; ++i) get(i);
  scene.settle(kUrls);
  const auto evicted = [&] { return scene.proxy().metric("hearsay_evicted_total"); };
  const auto before = evicted();
  for (int i = 0; i < kUrls / 2; ++i) EXPECT_TRUE(get(i).body == numbered_bytes(10'000)) << i;
  EXPECT_LT(evicted(), before + kUrls / 10);
  const auto in_memory = [&] { return scene.how("/0") == "TCP_MEM_HIT"; };
  EXPECT_TRUE(await([&] { return get(0).status == 200 && in_memory(); })) << scene.how("/0");
  EXPECT_EQ(scene.origin.count(), std::size_t{kUrls});
}

TEST(DiskTier, IsNotForTwoAtOnce) {
  DiskScene scene;
  try {
    const ProxyProcess second(
        json{{"cache", {{"disk", {{"path", scene.directory().string()}, {"size", "64MiB"}}}}}});
    FAIL() << "it serves";
  } catch (const std::runtime_error& error) {
    EXPECT_TRUE(contains(error.what(), "another process uses the directory")) << error.what();
    EXPECT_TRUE(contains(error.what(), scene.directory().string())) << error.what();
  }
  EXPECT_EQ(scene.health().at("state"), "working");
}

// More small responses than the index has room for in memory. If it refused them, nothing new would
// ever be stored.
class ADiskOfManyEntries : public testing::Test, public DiskScene {
 protected:
  ADiskOfManyEntries() : DiskScene(json{{"cache", {{"memory", "1MiB"}}}}) {}
};

TEST_F(ADiskOfManyEntries, StoresWhatIsNewAndDropsTheOldest) {
  constexpr int kMany = 12'000;
  origin.otherwise([](const Request&) { return cacheable("x"); });
  Client client(proxy().port());
  for (int i = 0; i < kMany; ++i) {
    ASSERT_EQ(client.request("GET", origin.url("/" + std::to_string(i))).status, 200);
  }
  settle(kMany);
  EXPECT_GT(disk("crowded_out_total"), 0);
  EXPECT_LE(disk("index_bytes"), 512 * 1024);
  const auto is_told = [this] {
    return proxy().process().errors().find("half of cache.memory") != std::string::npos;
  };
  EXPECT_TRUE(await(is_told));
  restart();
  EXPECT_TRUE(holds("/" + std::to_string(kMany - 1)));
  EXPECT_FALSE(holds("/0"));
}

}  // namespace
}  // namespace scenario
