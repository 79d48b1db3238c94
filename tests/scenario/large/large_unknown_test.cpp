// Large bodies whose length is known only at their end.
#include <gtest/gtest.h>

#include "tests/scenario/large/large_scene.hpp"

namespace scenario {
namespace {

const Fields kStoredAlone{{"Cache-Control", "only-if-cached"}};

// The origin sends the whole chunked, cut after `cut_at` bytes.
struct UnknownScene : LargeScene {
  explicit UnknownScene(std::uint64_t bytes, const char* memory = "64MiB",
                        const json& more = json::object())
      : LargeScene(bytes, memory, "512MiB", more) {
    origin.on("/a", [this](const Request& request) {
      const bool same = !request.has("If-Range") || request.field("If-Range") == etag;
      return request.has("Range") && same && knows_ranges ? answer(request) : chunked();
    });
  }

  Reply chunked() {
    Reply reply = described(Reply(200)).chunked();
    const auto end = std::min(size, cut_at);
    for (std::uint64_t at = 0; at < end; at += 100'000) {
      reply.send(pattern(at, std::min<std::uint64_t>(100'000, end - at), version));
    }
    return cut_at <= size ? reply.cut() : reply;
  }
  // Gets the whole, cut after so many bytes: no field says how long it was to be.
  void get_cut(std::uint64_t at) {
    cut_at = at;
    const Response cut = get();
    EXPECT_FALSE(cut.whole);
    EXPECT_TRUE(cut.body == pattern(0, cut.body.size(), version));
    cut_at = UINT64_MAX;
  }
  void expect_all(const Response& response) const {
    EXPECT_TRUE(response.whole && response.body == pattern(0, size, version));
  }
  void expect_of_unknown(const Response& part, const Span& span) const {
    EXPECT_EQ(part.status, 206);
    EXPECT_TRUE(part.whole);
    EXPECT_TRUE(part.body == pattern(span.first, span.second - span.first + 1, version));
    EXPECT_EQ(part.field("Content-Range"),
              "bytes " + std::to_string(span.first) + '-' + std::to_string(span.second) + "/*");
  }

  std::uint64_t cut_at = UINT64_MAX;
};

using Asked = std::vector<std::string>;

TEST(LargeUnknown, IsKeptInBlocksToo) {
  for (const auto bytes : {5 * kMiB + 123, 6 * kMiB}) {
    UnknownScene scene(bytes);
    const Response miss = scene.get();
    scene.expect_all(miss);
    EXPECT_FALSE(miss.has("Content-Length"));
    scene.settle(8);  // the object at its beginning and its end, and its blocks
    scene.crash();
    const Response hit = scene.get();
    scene.expect_whole(hit);
    EXPECT_TRUE(is_hit(hit));
    scene.expect_part(scene.get("3000000-4999999"), {3'000'000, 4'999'999});
    EXPECT_EQ(scene.origin.count(), 1U);
  }
}

TEST(LargeUnknown, TakesNoMoreMemoryThanThereIs) {
  UnknownScene scene(48 * kMiB, "16MiB");
  scene.expect_all(scene.get());
  EXPECT_LE(scene.proxy().metric("hearsay_memory_used_bytes"), 16.0 * kMiB);
  const Response hit = scene.get();
  scene.expect_whole(hit);
  EXPECT_TRUE(is_hit(hit));
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(LargeUnknown, OfACutBodyOnlyTheRestIsFetched) {
  UnknownScene scene(48 * kMiB, "16MiB");
  scene.get_cut(30 * kMiB + 54'321);
  const auto sent = scene.origin.body_bytes_sent();
  const Response whole = scene.get();
  scene.expect_whole(whole);
  EXPECT_TRUE(contains(whole.field("Cache-Status"), "fwd=partial")) << whole.field("Cache-Status");
  EXPECT_EQ(scene.asked(), (Asked{"", "bytes=31457280-"}));
  EXPECT_EQ(scene.origin.requests("/a").back().field("If-Range"), "\"v1\"");
  EXPECT_EQ(scene.origin.body_bytes_sent() - sent, 18 * kMiB);
  EXPECT_LE(scene.proxy().metric("hearsay_memory_used_bytes"), 16.0 * kMiB);
  EXPECT_TRUE(is_hit(scene.get()));
  EXPECT_EQ(scene.origin.count(), 2U);
}

TEST(LargeUnknown, KeepsTheHeadOfTheCutResponseIfTheRestHasLess) {
  UnknownScene scene(12 * kMiB);
  scene.get_cut(9 * kMiB);
  scene.origin.on("/a", [&](const Request&) {
    const auto text =
        "bytes 9437184-12582911/12582912";  // and the fields that RFC 9110 15.3.7 requires
    return Reply(206, {{"Content-Range", text}, {"ETag", "\"v1\""}})
        .with("Cache-Control", "max-age=3600")
        .body(pattern(9 * kMiB, 3 * kMiB));
  });
  scene.expect_whole(scene.get());
  scene.expect_whole(scene.get());
}

TEST(LargeUnknown, OfACutBodyOnlyTheRestIsFetchedAfterACrash) {
  UnknownScene scene(16 * kMiB, "16MiB");
  scene.get_cut(10 * kMiB + 5);
  scene.settle(13);  // the blocks, and three records of the object
  scene.crash();
  scene.expect_of_unknown(scene.get("5000000-5999999"), {5'000'000, 5'999'999});
  scene.expect_whole(scene.get());
  EXPECT_EQ(scene.asked(), (Asked{"", "bytes=10485760-"}));
  scene.crash();
  scene.expect_whole(scene.get());
}

TEST(LargeUnknown, TheBlocksFromBeforeACrashAreKept) {
  UnknownScene scene(16 * kMiB, "16MiB");
  Gate never;
  scene.origin.on("/a", [&](const Request& request) {
    if (request.has("Range")) return scene.answer(request);
    return scene.described(Reply(200)).chunked().send(pattern(0, 9 * kMiB + 5)).wait(never);
  });
  Client client(scene.proxy().port());
  client.send(request_text("GET", scene.origin.url("/a")));
  EXPECT_EQ(client.read_head().status, 200);
  client.read_body(8 * kMiB);
  scene.settle(11);  // 9 blocks, and two records of the object
  scene.crash();
  scene.expect_whole(scene.get());
  EXPECT_EQ(scene.asked(), (Asked{"", "bytes=8388608-"}));
  never.open();
}

TEST(LargeUnknown, AStoredRangeNeedsNoLength) {
  UnknownScene scene(12 * kMiB, "16MiB");
  scene.get_cut(10 * kMiB);
  const Response part = scene.get("3000000-4999999");
  EXPECT_TRUE(is_hit(part));
  scene.expect_of_unknown(part, {3'000'000, 4'999'999});
  scene.expect_of_unknown(scene.get("0-0", kStoredAlone), {0, 0});
  EXPECT_EQ(scene.get("", kStoredAlone).status, 504);
  EXPECT_EQ(scene.get("10000000-11000000", kStoredAlone).status, 504);
  EXPECT_EQ(scene.get("5-", kStoredAlone).status, 504);
  EXPECT_EQ(scene.get("-5", kStoredAlone).status, 504);
  EXPECT_EQ(scene.proxy().digest().at("entries"), 0);
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(LargeUnknown, ARangeBeyondTheStoredBytesTellsTheLength) {
  const struct {
    const char* range;
    Span span;
    const char* asked;
  } cases[] = {{"9000000-10999999", {9'000'000, 10'999'999}, "bytes=9000000-10999999"},
               {"100-", {100, 12 * kMiB - 1}, "bytes=6291456-"},
               {"5000000-7999999", {5'000'000, 7'999'999}, "bytes=6291456-7999999"}};
  for (const auto& [range, span, asked] : cases) {
    UnknownScene scene(12 * kMiB);
    scene.get_cut(6 * kMiB + 5);
    scene.expect_part(scene.get(range), span);
    EXPECT_EQ(scene.asked().at(1), asked);
    scene.expect_whole(scene.get());
    scene.expect_whole(scene.get("", kStoredAlone));
    EXPECT_LE(scene.origin.body_bytes_sent(), 14 * kMiB + 1000)
        << "with the sizes of chunks, and the blocks at the ends of the range";
  }
}

TEST(LargeUnknown, OfAnotherVersionNothingIsJoined) {
  for (const char* range : {"", "5000000-"}) {
    UnknownScene scene(12 * kMiB);
    scene.get_cut(6 * kMiB);
    scene.etag = "\"v2\"";
    scene.version = 2;
    const Response other = scene.get(range);
    EXPECT_TRUE(other.whole);
    const auto first = *range ? 5'000'000 : 0;
    EXPECT_TRUE(other.body == pattern(first, scene.size - first, 2)) << range;
    scene.expect_whole(scene.get());
    scene.expect_part(scene.get("3000000-3999999"), {3'000'000, 3'999'999});
  }
}

TEST(LargeUnknown, IfTheOriginDoesNotSendTheRestAllIsFetched) {
  UnknownScene scene(12 * kMiB);
  scene.get_cut(6 * kMiB);
  scene.knows_ranges = false;
  scene.expect_all(scene.get());
  scene.expect_whole(scene.get());
  EXPECT_EQ(scene.origin.count(), 2U);
}

TEST(LargeUnknown, ThatWasCutAtItsVeryEndIsFetchedAgain) {
  for (const char* range : {"", "100-"}) {
    UnknownScene scene(8 * kMiB);
    scene.get_cut(8 * kMiB);
    const Response again = scene.get(range);
    EXPECT_TRUE(again.whole);
    EXPECT_TRUE(again.body == pattern(*range ? 100 : 0, 8 * kMiB - (*range ? 100 : 0)));
    scene.expect_all(scene.get());
  }
}

TEST(LargeUnknown, WithoutAStrongValidatorNothingOfItIsKept) {
  for (const char* etag : {"", "W/\"v1\""}) {
    for (const auto bytes : {7 * kMiB + 5, 8 * kMiB}) {
      UnknownScene scene(bytes, "16MiB");
      scene.etag = etag;
      scene.get_cut(bytes);
      EXPECT_EQ(scene.get("", kStoredAlone).status, 504);
      EXPECT_EQ(scene.get("0-99999", kStoredAlone).status, 504);
      scene.expect_all(scene.get());
      EXPECT_TRUE(is_hit(scene.get()));
      EXPECT_EQ(scene.origin.count(), 2U);
    }
  }
}

TEST(LargeUnknown, BrokenChunksEraseAllThatArrived) {
  UnknownScene scene(12 * kMiB, "16MiB");
  scene.origin.on("/a", [&](const Request&) {
    return Reply::raw(
        "HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nETag: \"v1\"\r\n"
        "Transfer-Encoding: chunked\r\n\r\n" +
        chunk(pattern(0, 9 * kMiB)) + "no chunk\r\n");
  });
  EXPECT_FALSE(scene.get().whole);
  EXPECT_EQ(scene.get("0-99999", kStoredAlone).status, 504);
}

TEST(LargeUnknown, OfABodyThatBecomesTooLargeNothingIsKept) {
  UnknownScene scene(12 * kMiB, "16MiB", {{"cache", {{"max_object", "8MiB"}}}});
  for (std::size_t times = 1; times <= 2; ++times) {
    scene.expect_all(scene.get());
    EXPECT_EQ(scene.get("0-99999", kStoredAlone).status, 504);
    EXPECT_EQ(scene.origin.count(), times);
  }
}

TEST(LargeUnknown, ALaterClientFetchesOnlyTheRest) {
  UnknownScene scene(32 * kMiB, "16MiB");
  Client slow(scene.proxy().port());
  slow.send(request_text("GET", scene.origin.url("/a")));
  Response first = slow.read_head();
  EXPECT_LT(await_halt([&] { return scene.origin.body_bytes_sent(); }), 24 * kMiB);
  scene.expect_whole(scene.get());
  ASSERT_EQ(scene.origin.count(), 2U);
  EXPECT_GE(scene.span_of(scene.asked().back()).first, 4 * kMiB);
  slow.read_rest(first);
  scene.expect_all(first);
  scene.expect_whole(scene.get());
  EXPECT_EQ(scene.origin.count(), 2U);
}

TEST(LargeUnknown, APurgeRemovesItsBlocks) {
  UnknownScene scene(12 * kMiB);
  scene.get_cut(6 * kMiB);
  EXPECT_EQ(scene.ask("PURGE", "/a", kOnPurpose).status, 200);
  EXPECT_EQ(scene.get("0-99999", kStoredAlone).status, 504);
  scene.crash();
  scene.expect_all(scene.get());
  EXPECT_EQ(scene.asked(), (Asked{"", ""}));
}

}  // namespace
}  // namespace scenario
