// The source of a large object's blocks when a block, the disk or the origin fails, or when another
// proxy has them.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <thread>

#include "tests/scenario/large/large_scene.hpp"

namespace scenario {
namespace {

// Flips one bit of these bytes on the disk; false if no file has them.
bool flip_a_bit_of(const std::filesystem::path& directory, const std::string& bytes) {
  for (const auto& item : std::filesystem::directory_iterator(directory)) {
    std::fstream file(item.path(), std::ios::binary | std::ios::in | std::ios::out);
    const std::string all{std::istreambuf_iterator<char>(file), {}};
    const auto at = all.find(bytes);
    if (at == std::string::npos) continue;
    file.clear();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(all[at] ^ 1));
    return true;
  }
  return false;
}

// An object of six blocks on disk, the fourth of them damaged.
struct Damaged : LargeScene {
  Damaged() : LargeScene(6 * kMiB) {
    get();
    settle(7);
    end();
    EXPECT_TRUE(flip_a_bit_of(directory(), pattern(3 * kMiB + 500'000, 64)));
    begin();
  }
};

TEST(LargeSource, ADamagedBlockIsFetchedInTheMiddleOfABody) {
  Damaged scene;
  scene.expect_whole(scene.get());
  EXPECT_EQ(scene.asked().back(), "bytes=3145728-4194303");
  const Response healed = scene.get();
  scene.expect_whole(healed);
  EXPECT_TRUE(is_hit(healed));
  EXPECT_EQ(scene.origin.count(), 2U);
}

TEST(LargeSource, ADamagedBlockIsNeverServedToANeighbour) {
  Damaged scene;
  const Fields only{{"Cache-Control", "only-if-cached"}};
  const Response cut = scene.get("", only);
  EXPECT_FALSE(cut.whole);
  EXPECT_TRUE(cut.body == pattern(0, cut.body.size()));
  EXPECT_EQ(scene.get("", only).status, 504);
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(LargeSource, AnObjectUnderWayIsReadByAllLaterClients) {
  LargeScene scene(8 * kMiB);
  Gate gate;
  const auto all = pattern(0, scene.size);
  scene.origin.on("/a", scene.described(Reply(200))
                            .sized(scene.size)
                            .send(all.substr(0, 2'500'000))
                            .wait(gate)
                            .send(all.substr(2'500'000)));
  Client first(scene.proxy().port());
  first.send(request_text("GET", scene.origin.url("/a")));
  Response whole = first.read_head();
  EXPECT_EQ(scene.get("100000-1999999").body, all.substr(100'000, 1'900'000));
  Client third(scene.proxy().port());
  third.send(request_text("GET", scene.origin.url("/a")));
  Response collapsed = third.read_head();
  EXPECT_TRUE(contains(collapsed.field("Cache-Status"), "collapsed"));
  gate.open();
  first.read_rest(whole);
  scene.expect_whole(whole);
  third.read_rest(collapsed);
  scene.expect_whole(collapsed);
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(LargeSource, AHugeStatedLengthHoldsUpNoClient) {
  LargeScene scene(4'503'599'626'321'915);  // the largest possible number of blocks
  scene.knows_ranges = false;
  Gate gate;
  scene.origin.on(
      "/a",
      scene.described(Reply(200)).sized(scene.size).send(pattern(0, 100'000)).wait(gate).cut());
  Client first(scene.proxy().port());
  first.send(request_text("GET", scene.origin.url("/a")));
  EXPECT_EQ(first.read_head().status, 200);
  Client second(scene.proxy().port());
  const auto begun = std::chrono::steady_clock::now();
  second.send(request_text("GET", scene.origin.url("/a")));
  const Response head = second.read_head();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, allowed(std::chrono::seconds(2)));
  EXPECT_TRUE(contains(head.field("Cache-Status"), "collapsed")) << head.field("Cache-Status");
  EXPECT_EQ(second.read_body(1000), pattern(0, 1000));
  first.leave();
  second.leave();
  gate.open();
}

TEST(LargeSource, APurgedObjectIsFetchedAgain) {
  LargeScene scene(6 * kMiB);
  scene.get();
  scene.ask("PURGE", "/a", kOnPurpose);
  scene.version = 2;
  scene.expect_whole(scene.get());
  scene.expect_part(scene.get("100000-5999999"), {100'000, 5'999'999});
  EXPECT_EQ(scene.origin.count(), 2U);
}

TEST(LargeSource, EachVariantHasBlocksOfItsOwn) {
  LargeScene scene(5 * kMiB);
  scene.origin.on("/a", [&](const Request& request) {
    scene.version = request.field("Accept") == "b/b" ? 2 : 1;
    scene.etag = scene.version == 2 ? "\"v2\"" : "\"v1\"";
    return scene.answer(request).with("Vary", "Accept");
  });
  for (int round = 0; round < 2; ++round) {
    scene.version = 1;
    scene.expect_whole(scene.get("", {{"Accept", "a/a"}}));
    scene.version = 2;
    scene.expect_whole(scene.get("", {{"Accept", "b/b"}}));
  }
  EXPECT_EQ(scene.origin.count(), 2U);
}

TEST(LargeSource, AStaleObjectStandsInIfAllWantedBytesAreStored) {
  LargeScene scene(6 * kMiB);
  scene.cache_control = "max-age=0, stale-if-error=600";
  scene.get("0-2000000");
  scene.origin.on("/a", Reply(503));
  const Response stale = scene.get("1000000-2000000");
  scene.expect_part(stale, {1'000'000, 2'000'000});
  EXPECT_TRUE(contains(stale.field("Cache-Status"), "stale-if-error"));
  EXPECT_EQ(scene.get("1000000-3000000").status, 503);
}

TEST(LargeSource, AFailureBeforeTheFirstByteIsAnErrorOfItsOwn) {
  LargeScene scene(6 * kMiB);
  scene.get("0-2000000");
  scene.origin.on("/a", Reply::hang_up());
  const Response failed = scene.get("3000000-4000000");
  EXPECT_EQ(failed.status, 502);
  EXPECT_TRUE(contains(failed.field("Cache-Status"), "fwd=partial"));
  scene.origin.on("/a", Reply(403));
  EXPECT_EQ(scene.get("3000000-4000000").status, 403) << "is for the client to know";
  scene.origin.on("/a", [&](const Request& request) { return scene.answer(request); });
  scene.expect_part(scene.get("0-4000000"), {0, 4'000'000});
}

// The answer to the request, cut after so many bytes.
Reply cut_answer(const LargeScene& scene, const Request& request, std::uint64_t bytes) {
  const auto range = request.field("Range");
  const auto [first, last] = scene.span_of(range.empty() ? "bytes=0-" : range);
  const auto size = last - first + 1;
  const auto text = "bytes " + std::to_string(first) + '-' + std::to_string(last) + '/' +
                    std::to_string(scene.size);
  const Reply head = range.empty() ? Reply(200) : Reply(206, {{"Content-Range", text}});
  return scene.described(head).sized(size).send(pattern(first, std::min(size, bytes))).cut();
}

void cut_each_at(LargeScene& scene, std::uint64_t bytes) {
  scene.origin.on(
      "/a", [&scene, bytes](const Request& request) { return cut_answer(scene, request, bytes); });
}

TEST(LargeSource, AnObjectIsFetchedThoughTheOriginNeverReachesTheEndOfABlock) {
  LargeScene scene(8 * kMiB);
  cut_each_at(scene, 700'000);
  scene.expect_whole(scene.get());
  const auto asked = scene.asked();
  ASSERT_GE(asked.size(), 4U);
  EXPECT_EQ(asked[1], "bytes=0-8388607");
  EXPECT_EQ(asked[2], "bytes=700000-8388607");
  EXPECT_EQ(asked[3], "bytes=1400000-8388607");
  EXPECT_EQ(scene.origin.requests("/a").back().field("If-Range"), "\"v1\"");
  EXPECT_LT(scene.origin.body_bytes_sent(), scene.size + 800'000) << "all but the first once";
  EXPECT_TRUE(is_hit(scene.get()));
}

TEST(LargeSource, AResumeContinuesAfterEachCutOfTheOrigin) {
  LargeScene scene(8 * kMiB);
  scene.get("0-99999");
  cut_each_at(scene, 700'000);
  scene.expect_part(scene.get("1800000-"), {1'800'000, 8 * kMiB - 1});
}

TEST(LargeSource, AFailureBeforeTheFirstWantedByteIsAnErrorOfItsOwn) {
  LargeScene scene(8 * kMiB);
  scene.get("0-99999");
  cut_each_at(scene, 10'000);
  const Response failed = scene.get("1500000-");
  EXPECT_EQ(failed.status, 502);
  EXPECT_TRUE(contains(failed.field("Cache-Status"), "fwd=partial"));
}

TEST(LargeSource, IfARestIsAnsweredByTheWholeNoByteIsLostOrDoubled) {
  LargeScene scene(8 * kMiB);
  scene.get("7340032-8388607");
  const auto answer_whole = [&](const Request& request) {
    return contains(request.field("Range"), "=0-") ? cut_answer(scene, request, 1'700'000)
                                                   : scene.whole();
  };
  scene.origin.on("/a", answer_whole);
  scene.expect_whole(scene.get());
  EXPECT_EQ(scene.asked(), (std::vector<std::string>{"bytes=7340032-8388607", "bytes=0-7340031",
                                                     "bytes=1700000-7340031"}));
  EXPECT_TRUE(is_hit(scene.get()));
}

TEST(LargeSource, AnObjectThatTheOriginDropsIsErased) {
  LargeScene scene(6 * kMiB);
  scene.get("0-2000000");
  scene.origin.on("/a", Reply(404));
  EXPECT_EQ(scene.get("3000000-4000000").status, 404);
  EXPECT_EQ(scene.get("0-2000000").status, 404);
}

TEST(LargeSource, AnAnswerToCredentialsErasesNothing) {
  LargeScene scene(6 * kMiB);
  scene.get("0-2000000");
  scene.origin.on("/a", Reply(404));
  const Fields credentials{{"Authorization", "Basic bWU6bWU="}};
  EXPECT_EQ(scene.get("3000000-4000000", credentials).status, 404);
  scene.expect_part(scene.get("0-2000000"), {0, 2'000'000});
}

// Another proxy "b", whose neighbour is the scene's proxy "a", in front of the same origin.
struct Neighbours : LargeScene {
  explicit Neighbours(std::uint64_t bytes) : LargeScene(bytes) {
    proxy_b.emplace(with_peer(
        "a", proxy().port(),
        json{{"cache", {{"disk", {{"path", (home_b / "c").string()}, {"size", "512MiB"}}}}}}));
  }
  Response get_of_b(const std::string& range = "") {
    Client client(proxy_b->port());
    Fields fields;
    if (!range.empty()) fields.emplace_back("Range", "bytes=" + range);
    return client.get(origin.url("/a"), fields);
  }
  bool b_knows_of(std::size_t entries) {
    return await([&] { return proxy_b->digest_peer("a").at("entries") == entries; });
  }

  TemporaryDirectory home_b;
  std::optional<ProxyProcess> proxy_b;
};

TEST(LargeSource, ANeighbourWithAllBlocksIsAskedAndItsBlocksAreStored) {
  Neighbours scene(6 * kMiB);
  scene.get();
  ASSERT_TRUE(scene.b_knows_of(1));
  const Response whole = scene.get_of_b();
  scene.expect_whole(whole);
  EXPECT_TRUE(contains(whole.field("Cache-Status"), "peer/a")) << whole.field("Cache-Status");
  const Response part = scene.get_of_b("1000000-2000000");
  scene.expect_part(part, {1'000'000, 2'000'000});
  EXPECT_TRUE(is_hit(part));
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(LargeSource, AnObjectThatANeighbourHasInPartIsNotClaimedAsAWhole) {
  Neighbours scene(6 * kMiB);
  scene.get("0-2000000");
  DiskScene& here = scene;
  here.origin.on("/small", cacheable("hello"));
  here.get("/small");
  ASSERT_TRUE(scene.b_knows_of(2)) << "the part is claimed under a mark";
  scene.expect_whole(scene.get_of_b());
  EXPECT_EQ(scene.asked().back(), "");
}

}  // namespace
}  // namespace scenario
