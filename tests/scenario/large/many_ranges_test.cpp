// Many ranges in one request, as podman asks for the parts of a layer that it lacks, of storage
// that gives one range at a time.
#include <gtest/gtest.h>

#include "tests/scenario/large/large_peer_scene.hpp"

namespace scenario {
namespace {

constexpr std::uint64_t kLayer = 20 * kMiB;

using Spans = std::vector<Span>;

// Ascending, with gaps; some cross the end of a block. None ends soon after the beginning of a
// block: the rest of such a block may be left when the client has what it wants.
Spans spans_of(std::uint64_t count, std::uint64_t size = kLayer) {
  Spans spans;
  const auto step = size / count;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto first = i * step + i * 37 % (step / 4);
    spans.emplace_back(first, first + step / 2 - 64);
  }
  return spans;
}

std::string text_of(const Span& span) {
  return std::to_string(span.first) + '-' + std::to_string(span.second);
}

std::string ranges_of(const Spans& spans) {
  std::string text;
  for (const auto& span : spans) text += (text.empty() ? "" : ",") + text_of(span);
  return text;
}

void expect_parts(const Response& response, const Spans& spans, std::uint64_t size = kLayer) {
  EXPECT_EQ(response.status, 206) << response.field("Cache-Status");
  EXPECT_TRUE(response.whole);
  const std::string type = response.field("Content-Type");
  const std::string kind = "multipart/byteranges; boundary=";
  ASSERT_TRUE(type.starts_with(kind)) << type;
  const std::string boundary = type.substr(kind.size());
  EXPECT_EQ(boundary.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz"), boundary.npos);
  std::string body;
  for (const auto& span : spans) {
    body += "\r\n--" + boundary + "\r\nContent-Type: x/y\r\nContent-Range: bytes " + text_of(span) +
            '/' + std::to_string(size) + "\r\n\r\n" +
            pattern(span.first, span.second - span.first + 1);
  }
  body += "\r\n--" + boundary + "--\r\n";
  EXPECT_TRUE(response.body == body);
  EXPECT_EQ(response.field("Content-Length"), std::to_string(body.size()));
}

// Makes the origin answer several ranges by this status.
void refuse_several(LargeScene& scene, int status) {
  scene.origin.on("/a", [&scene, status](const Request& request) {
    const bool several = contains(request.field("Range"), ",");
    if (!several) return scene.answer(request);
    return status == 200 ? scene.whole() : Reply(status);
  });
}

class ManyRanges : public testing::TestWithParam<int> {};

TEST_P(ManyRanges, OfAColdObjectAreAskedForOneAtATimeAndEachByteOnce) {
  for (const std::uint64_t count : {2, 64, 1000}) {
    LargeScene scene(kLayer);
    refuse_several(scene, GetParam());
    const auto spans = spans_of(count);
    for (int i = 0; i < 2; ++i) expect_parts(scene.get(ranges_of(spans)), spans);
    EXPECT_TRUE(is_hit(scene.get(ranges_of(spans))));
    for (const auto& [block, times] : scene.asked_per_block()) EXPECT_EQ(times, 1) << block;
    EXPECT_LE(scene.origin.count(), 4U) << "blocks in a row are asked for together";
  }
}

INSTANTIATE_TEST_SUITE_P(AnsweredBy, ManyRanges, testing::Values(200, 416, 501));

TEST(ManyRanges, FetchOnlyTheBlocksThatTheyTouch) {
  LargeScene scene(kLayer);
  const Spans spans{{100'000, 199'999}, {5 * kMiB - 5, 5 * kMiB + 5}, {9 * kMiB, 9 * kMiB}};
  expect_parts(scene.get(ranges_of(spans)), spans);
  EXPECT_EQ(scene.asked(), (std::vector<std::string>{"bytes=0-1048575", "bytes=4194304-6291455",
                                                     "bytes=9437184-10485759"}));
}

TEST(ManyRanges, ThatAreAdjacentGetAPartEach) {
  LargeScene scene(kLayer);
  const Spans spans{{0, 99'999}, {100'000, 100'000}, {100'001, 199'999}};
  expect_parts(scene.get(ranges_of(spans)), spans);
}

TEST(ManyRanges, BehindTheEndAreLeftOut) {
  LargeScene scene(kLayer);
  const auto beyond = text_of({kLayer + 5, kLayer + 9});
  expect_parts(scene.get("0-99999,200000-299999," + beyond), {{0, 99'999}, {200'000, 299'999}});
  EXPECT_EQ(scene.get(beyond + ',' + text_of({kLayer + 20, kLayer + 29})).status, 416);
}

TEST(ManyRanges, AreGivenByTheNeighbourThatHoldsThem) {
  LargePeer scene(kLayer);
  const auto spans = spans_of(300);
  expect_parts(scene.ask_for(ranges_of(spans)), spans);
  EXPECT_EQ(scene.origin.count("/a"), 0U);
  EXPECT_LE(scene.peer.count("/a"), 4U);
}

// Overlapping ranges must not multiply a body.
TEST(ManyRanges, ThatDoNotAscendGetTheWhole) {
  LargeScene scene(3 * kMiB);
  scene.get();
  auto spans = spans_of(100, 3 * kMiB);
  std::swap(spans.front(), spans.back());
  scene.expect_whole(scene.get(ranges_of(spans)));
  EXPECT_EQ(scene.origin.count(), 1U);
}

// Nothing is kept in blocks without a disk. A client of ranges understands the whole, too.
TEST(ManyRanges, ThatTheOriginRefusesAreAnsweredByTheWholeWithoutADisk) {
  for (const int status : {416, 501}) {
    Scene scene;
    scene.origin.on("/a", [status](const Request& request) {
      return request.has("Range") ? Reply(status) : cacheable("0123456789").with("ETag", "\"v1\"");
    });
    const auto url = scene.origin.url("/a");
    const Response whole = scene.client.get(url, {{"Range", "bytes=0-1,4-5"}});
    EXPECT_EQ(whole.status, 200);
    EXPECT_EQ(whole.body, "0123456789");
    EXPECT_EQ(scene.client.get(url, {{"Range", "bytes=0-1,4-5"}}).status, 206);
    EXPECT_EQ(scene.origin.count(), 2U);
  }
}

// As Ollama asks before it asks for ranges.
TEST(AHead, OfAColdObjectFetchesNoneOfIt) {
  LargeScene scene(kLayer);
  scene.origin.on("/a", scene.described(Reply(200)).sized(scene.size));
  const Response head = scene.ask("HEAD", "/a");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.field("Content-Length"), std::to_string(scene.size));
  ASSERT_EQ(scene.origin.count(), 1U);
  EXPECT_EQ(scene.origin.requests("/a").back().method, "HEAD");
}

// All bytes of a response whose length nobody knows yet.
TEST(ARangeFromTheFirstByte, OfAnObjectOfUnknownLengthIsTheWhole) {
  for (const bool as_part : {false, true}) {
    LargeScene scene(3 * kMiB);
    scene.origin.on("/a", [&](const Request&) {
      const auto last = std::to_string(scene.size - 1);
      auto reply = as_part ? Reply(206, {{"Content-Range", "bytes 0-" + last + "/*"}}) : Reply(200);
      return scene.described(std::move(reply)).chunked().send(pattern(0, scene.size));
    });
    for (int i = 0; i < 2; ++i) {
      const Response all = scene.get("0-");
      EXPECT_TRUE(all.status == 200 || all.status == 206) << all.status;
      EXPECT_TRUE(all.whole && all.body == pattern(0, scene.size));
    }
  }
}

}  // namespace
}  // namespace scenario
