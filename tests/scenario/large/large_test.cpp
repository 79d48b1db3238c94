// Large objects in blocks: stored while they arrive, resumed after a cut, and served in any range.
#include <gtest/gtest.h>

#include <thread>

#include "tests/scenario/large/large_scene.hpp"

namespace scenario {
namespace {

const Fields kOnlyStored{{"Cache-Control", "only-if-cached"}};

std::vector<std::string> ranges(std::initializer_list<const char*> list) {
  return {list.begin(), list.end()};
}

TEST(Large, AWholeIsKeptInBlocksAndThereAfterACrash) {
  LargeScene scene(5 * kMiB + 123);
  const Response miss = scene.get();
  scene.expect_whole(miss);
  EXPECT_TRUE(contains(miss.field("Cache-Status"), "fwd=uri-miss"));
  EXPECT_TRUE(contains(miss.field("Cache-Status"), "stored"));
  const Response hit = scene.get();
  scene.expect_whole(hit);
  EXPECT_TRUE(is_hit(hit));
  scene.settle(7);  // the object and its blocks
  scene.crash();
  const Response after = scene.get();
  scene.expect_whole(after);
  EXPECT_TRUE(is_hit(after));
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(Large, AnyRangeIsCutFromBlocks) {
  LargeScene scene(5 * kMiB + 123);
  scene.get();
  const struct {
    const char* range;
    Span span;
  } cases[] = {{"0-0", {0, 0}},
               {"1048575-1048576", {kMiB - 1, kMiB}},
               {"1048576-2097151", {kMiB, 2 * kMiB - 1}},
               {"100-", {100, 5 * kMiB + 122}},
               {"-200", {5 * kMiB - 77, 5 * kMiB + 122}},
               {"5242880-9999999", {5 * kMiB, 5 * kMiB + 122}}};
  for (const auto& [range, span] : cases) {
    const Response part = scene.get(range);
    EXPECT_TRUE(is_hit(part)) << range;
    scene.expect_part(part, span);
    EXPECT_TRUE(part.has("Age"));
  }
  EXPECT_EQ(scene.get("6000000-").status, 416);
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(Large, SeveralRangesAreAMultipart) {
  LargeScene scene(6 * kMiB);
  scene.get("0-1048575");
  const Response parts = scene.get("5000000-5000009,0-1100000");
  EXPECT_EQ(parts.status, 206);
  EXPECT_TRUE(parts.whole);
  EXPECT_TRUE(contains(parts.field("Content-Type"), "multipart/byteranges"));
  EXPECT_TRUE(contains(parts.body, pattern(5'000'000, 10)));
  EXPECT_TRUE(contains(parts.body, pattern(0, 1'100'001)));
  EXPECT_EQ(scene.asked(),
            ranges({"bytes=0-1048575", "bytes=4194304-5242879", "bytes=1048576-2097151"}));
}

TEST(Large, HeadsAndConditionsNeedNoBlocks) {
  LargeScene scene(5 * kMiB);
  scene.get("0-1048575");
  const Response head = scene.ask("HEAD", "/a");
  EXPECT_EQ(head.field("Content-Length"), std::to_string(5 * kMiB));
  EXPECT_TRUE(is_hit(head));
  EXPECT_EQ(scene.get("", {{"If-None-Match", "\"v1\""}}).status, 304);
  EXPECT_EQ(scene.get("9999999-").status, 416);
  EXPECT_EQ(scene.origin.count(), 1U);
}

// The origin cuts the whole after so many bytes, and answers ranges by 503, until `well` is true.
void cut_at(LargeScene& scene, std::uint64_t bytes, const bool& well) {
  scene.origin.on("/a", [&scene, &well, bytes](const Request& request) {
    if (well) return scene.answer(request);
    if (request.has("Range")) return Reply(503);
    return scene.described(Reply(200)).sized(scene.size).send(pattern(0, bytes)).cut();
  });
}

TEST(Large, ACutBodyIsResumedUnseen) {
  LargeScene scene(8 * kMiB);
  scene.origin.on("/a", [&](const Request& request) {
    if (request.has("Range")) return scene.answer(request);
    return scene.described(Reply(200)).sized(scene.size).send(pattern(0, 5'500'000)).cut();
  });
  scene.expect_whole(scene.get());
  EXPECT_EQ(scene.asked(), ranges({"", "bytes=5242880-8388607"}));
  EXPECT_EQ(scene.origin.requests("/a").back().field("If-Range"), "\"v1\"");
  EXPECT_TRUE(is_hit(scene.get()));
}

TEST(Large, OfACutBodyOnlyTheRestIsFetched) {
  LargeScene scene(8 * kMiB);
  bool well = false;
  cut_at(scene, 5'500'000, well);
  EXPECT_FALSE(scene.get().whole);
  const auto before = scene.origin.count();
  well = true;
  const Response whole = scene.get();
  scene.expect_whole(whole);
  EXPECT_TRUE(contains(whole.field("Cache-Status"), "fwd=partial")) << whole.field("Cache-Status");
  EXPECT_EQ(scene.asked().back(), "bytes=5242880-8388607");
  EXPECT_TRUE(is_hit(scene.get()));
  EXPECT_EQ(scene.origin.count(), before + 1);
}

TEST(Large, OfACutBodyOnlyTheRestIsFetchedAfterACrash) {
  LargeScene scene(8 * kMiB);
  bool well = false;
  cut_at(scene, 5'500'000, well);
  EXPECT_FALSE(scene.get().whole);
  scene.settle(6);
  scene.crash();
  well = true;
  scene.expect_whole(scene.get());
  EXPECT_EQ(scene.asked().back(), "bytes=5242880-8388607");
}

TEST(Large, WithoutAStrongValidatorNothingIsJoined) {
  for (const char* etag : {"", "W/\"v1\""}) {
    LargeScene scene(8 * kMiB);
    scene.etag = etag;
    bool well = false;
    cut_at(scene, 5'500'000, well);
    EXPECT_FALSE(scene.get().whole);
    scene.expect_part(scene.get("100000-199999"), {100'000, 199'999});  // stored
    well = true;
    scene.expect_whole(scene.get());
    EXPECT_EQ(scene.asked().back(), "");
    EXPECT_TRUE(is_hit(scene.get()));
    EXPECT_TRUE(is_hit(scene.get("7000000-")));
  }
}

TEST(Large, ARangeFetchesOnlyItsBlocks) {
  LargeScene scene(20 * kMiB);
  scene.get("5-9");  // tells the length
  const Response cold = scene.get("3000000-3099999");
  scene.expect_part(cold, {3'000'000, 3'099'999});
  EXPECT_TRUE(contains(cold.field("Cache-Status"), "fwd=partial"));
  EXPECT_TRUE(contains(cold.field("Cache-Status"), "stored"));
  EXPECT_TRUE(await([&] { return is_hit(scene.get("2097152-3145727")); })) << "once all has come";
  const Response more = scene.get("3000000-5000000");
  scene.expect_part(more, {3'000'000, 5'000'000});
  EXPECT_TRUE(contains(more.field("Cache-Status"), "fwd=partial"));
  scene.expect_part(scene.get("20000000-"), {20'000'000, 20 * kMiB - 1});
  EXPECT_EQ(scene.asked(), ranges({"bytes=5-9", "bytes=2097152-3145727", "bytes=3145728-5242879",
                                   "bytes=19922944-20971519"}));
  scene.expect_whole(scene.get());
  EXPECT_EQ(scene.origin.body_bytes_sent(), 20 * kMiB + 5);
  scene.expect_whole(scene.get());
  EXPECT_EQ(scene.origin.body_bytes_sent(), 20 * kMiB + 5);
}

// Not every origin shortens a range that ends behind the object, whose length is not known yet.
TEST(Large, ARangeOfAColdObjectIsAskedForAsItIs) {
  for (const char* range : {"0-700000", "3000000-3099999", "3000000-6000000", "1048576-2097151",
                            "200000-299999,0-99999"}) {
    LargeScene scene(20 * kMiB);
    scene.get(range);
    EXPECT_EQ(scene.asked().front(), std::string("bytes=") + range);
  }
}

// The blocks at both ends come by questions of their own, once the length is known.
TEST(Large, ALongRangeOfAColdObjectBringsItsBlocks) {
  LargeScene scene(20 * kMiB);
  for (int i = 0; i < 2; ++i) {
    scene.expect_part(scene.get("3000000-6000000"), {3'000'000, 6'000'000});
  }
  EXPECT_EQ(scene.asked(),
            ranges({"bytes=3000000-6000000", "bytes=2097152-3145727", "bytes=5242880-6291455"}));
  EXPECT_TRUE(is_hit(scene.get("2097152-6291455")));
}

TEST(Large, ASmallRangeOfAColdObjectIsAskedForAsItIs) {
  LargeScene scene(20 * kMiB);
  for (const char* range : {"5-9", "-100000", "0-9,200000-200009"}) {
    scene.get(range);
    EXPECT_EQ(scene.asked().back(), std::string("bytes=") + range);
  }
}

TEST(Large, AnUnstorableRangeIsSentAsItWasAskedFor) {
  const struct {
    const char* etag;
    const char* cache_control;
  } cases[] = {{"", "max-age=60"},
               {"W/\"v1\"", "max-age=60"},
               {"\"v1\"", "no-store"},
               {"\"v1\"", "private"}};
  for (const auto& [etag, cache_control] : cases) {
    LargeScene scene(20 * kMiB);
    scene.etag = etag;
    scene.cache_control = cache_control;
    scene.expect_part(scene.get("3000000-3099999"), {3'000'000, 3'099'999});
    scene.expect_part(scene.get("20000000-"), {20'000'000, 20 * kMiB - 1});
    EXPECT_EQ(scene.get("30000000-").status, 416);
    EXPECT_EQ(scene.get("20971520-99999999").status, 416);
  }
}

TEST(Large, AnOriginThatKnowsNoRangesIsAskedOnce) {
  LargeScene scene(8 * kMiB);
  scene.knows_ranges = false;
  const Response part = scene.get("7000000-7099999");
  scene.expect_part(part, {7'000'000, 7'099'999});
  scene.expect_part(scene.get("100000-199999"), {100'000, 199'999});
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(Large, WithoutRangesMissingBlocksComeFromTheWhole) {
  LargeScene scene(8 * kMiB);
  scene.get("2097152-2197151");
  scene.knows_ranges = false;
  scene.expect_part(scene.get("6000000-6099999"), {6'000'000, 6'099'999});
  EXPECT_TRUE(is_hit(scene.get("100000-199999")));
  EXPECT_EQ(scene.origin.count(), 2U);
}

TEST(Large, AnotherVersionReplacesAllBlocks) {
  LargeScene scene(8 * kMiB);
  scene.get("0-2000000");
  scene.etag = "\"v2\"";
  scene.version = 2;
  const Response changed = scene.get("1000000-5000000");  // half of the range is stored
  EXPECT_FALSE(changed.whole);
  const Response again = scene.get("1000000-5000000");
  scene.expect_part(again, {1'000'000, 5'000'000});
  scene.expect_part(scene.get("0-2000000"), {0, 2'000'000});
  scene.expect_whole(scene.get());
}

TEST(Large, AnotherVersionIsSentAtOnceWhereNothingWasSentYet) {
  LargeScene scene(8 * kMiB);
  scene.get("0-2000000");
  scene.etag = "\"v2\"";
  scene.version = 2;
  scene.expect_part(scene.get("3000000-4000000"), {3'000'000, 4'000'000});
  scene.expect_part(scene.get("0-2000000"), {0, 2'000'000});
}

TEST(Large, AnotherVersionRightAfterA304IsSentAtOnceToo) {
  LargeScene scene(8 * kMiB);
  scene.cache_control = "max-age=0";
  scene.get("0-2097151");
  scene.origin.on("/a", [&](const Request& request) {
    if (request.has("If-None-Match") && scene.version == 1) {
      Reply unmodified = scene.described(Reply(304));
      scene.etag = "\"v2\"";
      scene.version = 2;
      return unmodified;
    }
    return scene.answer(request);
  });
  scene.expect_part(scene.get("3000000-4000000"), {3'000'000, 4'000'000});
  EXPECT_EQ(scene.origin.requests("/a")[1].field("If-None-Match"), "\"v1\"");
  scene.expect_whole(scene.get());
}

TEST(Large, IsFreshenedByA304AndKeepsItsBlocks) {
  LargeScene scene(8 * kMiB);
  scene.cache_control = "max-age=0";
  scene.get("0-2097151");
  scene.cache_control = "max-age=3600";
  const Response part = scene.get("1000000-3000000");
  scene.expect_part(part, {1'000'000, 3'000'000});
  EXPECT_TRUE(contains(part.field("Cache-Status"), "fwd=stale; fwd-status=304"));
  EXPECT_EQ(scene.asked(), ranges({"bytes=0-2097151", "bytes=0-3145727", "bytes=2097152-3145727"}));
  EXPECT_TRUE(is_hit(scene.get("0-3145727")));
}

TEST(Large, ANeighbourGetsStoredBlocksAndNothingElse) {
  LargeScene scene(8 * kMiB);
  scene.get("0-2097151");
  scene.expect_part(scene.get("1000000-2000000", kOnlyStored), {1'000'000, 2'000'000});
  EXPECT_EQ(scene.get("1000000-3000000", kOnlyStored).status, 504);
  const Response whole = scene.get("", kOnlyStored);
  EXPECT_EQ(whole.status, 504);
  EXPECT_TRUE(contains(whole.field("Cache-Status"), "fwd=partial"));
  EXPECT_EQ(scene.origin.count(), 1U);
  scene.get();
  scene.expect_whole(scene.get("", kOnlyStored));
}

TEST(Large, IsReadFromTheOriginNoFasterThanByTheClient) {
  LargeScene scene(64 * kMiB);
  {
    Client client(scene.proxy().port());
    client.send(request_text("GET", scene.origin.url("/a")));
    EXPECT_EQ(client.read_head().status, 200);
    EXPECT_LT(await_halt([&] { return scene.origin.body_bytes_sent(); }), 32 * kMiB);
  }
  EXPECT_TRUE(await([&] { return scene.origin.open_connections() == 0; })) << "nobody reads";
  scene.expect_part(scene.get("0-5000000"), {0, 5'000'000});
  EXPECT_EQ(scene.origin.count(), 1U) << "what had come is kept";
}

}  // namespace
}  // namespace scenario
