// Parts of stored responses, served without the origin (RFC 9110 section 14).
#include <gtest/gtest.h>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

constexpr std::size_t kWhole = 3'000'000;  // more slices than one write takes

struct HeldPart : Scene {
  explicit HeldPart(std::size_t size = kWhole, const char* cache_control = "max-age=3600")
      : bytes(numbered_bytes(size)) {
    origin.on("/a",
              cacheable(bytes, cache_control).with("ETag", "\"v1\"").with("Content-Type", "x/y"));
    client.get(url());
  }
  std::string url() const { return origin.url("/a"); }
  Response part(const std::string& range, Fields fields = {}) {
    fields.emplace_back("Range", range);
    return client.get(url(), fields);
  }

  const std::string bytes;
};

TEST(Range, IsCutFromWhatIsHeld) {
  HeldPart scene;
  const struct {
    const char* range;
    std::size_t first, last;
  } cases[] = {
      {"bytes=0-0", 0, 0},
      {"bytes=65535-65536", 65'535, 65'536},  // over the edge of a slice
      {"bytes=131072-196607", 131'072, 196'607},
      {"bytes=100-", 100, kWhole - 1},
      {"bytes=-1000", kWhole - 1000, kWhole - 1},
      {"bytes=10-5000000", 10, kWhole - 1},
  };
  for (const auto& [range, first, last] : cases) {
    const Response part = scene.part(range);
    EXPECT_EQ(part.status, 206);
    EXPECT_TRUE(part.whole && is_hit(part)) << range;
    EXPECT_TRUE(part.body == scene.bytes.substr(first, last - first + 1)) << range;
    EXPECT_EQ(part.field("Content-Range"), "bytes " + std::to_string(first) + '-' +
                                               std::to_string(last) + '/' + std::to_string(kWhole));
    EXPECT_EQ(part.field("Content-Length"), std::to_string(last - first + 1));
    EXPECT_EQ(part.field("ETag"), "\"v1\"");
    EXPECT_TRUE(part.has("Age"));
  }
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(Range, OfSeveralPartsIsAMultipart) {
  HeldPart scene;
  const Response parts = scene.part("bytes=2000000-2500000, 0-9, 5-11, -3");
  EXPECT_EQ(parts.status, 206);
  EXPECT_FALSE(parts.has("Content-Range"));
  const std::string type = parts.field("Content-Type");
  const std::string kind = "multipart/byteranges; boundary=";
  ASSERT_TRUE(type.starts_with(kind)) << type;
  const std::string boundary = "\r\n--" + type.substr(kind.size());
  const auto part = [&](std::size_t first, std::size_t last) {
    return boundary + "\r\nContent-Type: x/y\r\nContent-Range: bytes " + std::to_string(first) +
           '-' + std::to_string(last) + "/3000000\r\n\r\n" +
           scene.bytes.substr(first, last - first + 1);
  };
  EXPECT_TRUE(parts.body == part(2'000'000, 2'500'000) + part(0, 11) + part(2'999'997, 2'999'999) +
                                boundary + "--\r\n");
  EXPECT_TRUE(parts.whole && is_hit(parts));
  EXPECT_NE(scene.part("bytes=0-1,4-5").field("Content-Type"), type);
}

TEST(Range, BeyondTheEndIs416) {
  HeldPart scene(10);
  const Response beyond = scene.part("bytes=10-20");
  EXPECT_EQ(beyond.status, 416);
  EXPECT_EQ(beyond.field("Content-Range"), "bytes */10");
  EXPECT_EQ(beyond.body, "");
  EXPECT_FALSE(beyond.has("ETag"));
  EXPECT_TRUE(is_hit(beyond));
  EXPECT_EQ(scene.part("bytes=0-1").body, "0 ");  // the connection is still usable
}

TEST(Range, IsIgnoredWhereItMayBe) {
  HeldPart scene(10);
  for (const char* range : {"lines=1-2", "bytes=2-1",
                            "bytes=0-0,2-2,4-4,6-6,8-8,0-0,0-0,0-0,0-0,"
                            "0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0"}) {
    const Response whole = scene.part(range);
    EXPECT_EQ(whole.status, 200) << range;
    EXPECT_EQ(whole.body, scene.bytes) << range;
  }
  const Response head = scene.client.request("HEAD", scene.url(), {{"Range", "bytes=0-1"}});
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.field("Content-Length"), "10");
}

TEST(Range, ComesAfterTheConditionsAndIfRange) {  // RFC 9110 section 13.2.2
  HeldPart scene(10);
  EXPECT_EQ(scene.part("bytes=0-1", {{"If-None-Match", "\"v1\""}}).status, 304);
  EXPECT_EQ(scene.part("bytes=0-1", {{"If-None-Match", "\"v2\""}}).status, 206);
  EXPECT_EQ(scene.part("bytes=0-1", {{"If-Range", "\"v1\""}}).status, 206);
  EXPECT_EQ(scene.part("bytes=0-1", {{"If-Range", "\"v2\""}}).status, 200);
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(Range, OfAStaleResponseIsCutOnceItIsKnownToBeGood) {
  HeldPart scene(10, "max-age=0");
  scene.origin.on("/a", [](const Request& request) {
    const bool asked = request.field("If-None-Match") == "\"v1\"" && !request.has("Range");
    return asked ? Reply(304, {{"ETag", "\"v1\""}}) : Reply(500);
  });
  const Response part = scene.part("bytes=2-3");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, scene.bytes.substr(2, 2));
  EXPECT_TRUE(contains(part.field("Cache-Status"), "fwd=stale"));
}

}  // namespace
}  // namespace scenario
