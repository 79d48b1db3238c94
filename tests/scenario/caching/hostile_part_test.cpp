// Origins whose 206 contradicts its Content-Range. The part is never joined to stored bytes, and no
// client receives a damaged body.
#include <gtest/gtest.h>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

const std::string kBytes = "0123456789";

struct Lie {
  const char* name;
  const char* content_range;
  std::string body;
  const char* etag = "\"v1\"";
};

// Answers to "bytes=5-" when "bytes 0-4/10" of kBytes are stored.
const Lie kLies[] = {
    {"SaysLongerThanItIs", "bytes 5-9/10", "5678"},
    {"SaysShorterThanItIs", "bytes 5-9/10", "56789X"},
    {"BeginsLater", "bytes 6-9/10", "6789"},
    {"BeginsEarlier", "bytes 4-9/10", "456789"},
    {"BeginsAtTheBeginning", "bytes 0-9/10", kBytes},
    {"GoesBeyond", "bytes 5-10/11", "56789X"},
    {"EndsEarlier", "bytes 5-8/10", "5678"},
    {"OtherLength", "bytes 5-9/11", "56789"},
    {"UnknownLength", "bytes 5-9/*", "56789"},
    {"ChangedMeanwhile", "bytes 5-9/10", "vwxyz", "\"v2\""},
    {"WeaklyTheSame", "bytes 5-9/10", "vwxyz", "W/\"v1\""},
    {"Backwards", "bytes 9-5/10", "56789"},
    {"Huge", "bytes 5-18446744073709551615/18446744073709551616", "56789"},
    {"Huger", "bytes 5-99999999999999999999999/*", "56789"},
    {"OtherUnit", "lines 5-9/10", "56789"},
    {"Twice", "bytes 5-9/10, bytes 5-9/10", "56789"},
    {"Unsatisfied", "bytes */10", "56789"},
    {"Nothing", "", "56789"},
};

Reply part(const std::string& range, const std::string& body, const std::string& etag) {
  Reply reply(206, {{"Cache-Control", "max-age=60"}, {"ETag", etag}});
  if (!range.empty()) reply.with("Content-Range", range);
  return reply.body(body);
}

struct HostilePart : Scene {
  HostilePart() {
    origin.on("/a", part("bytes 0-4/10", "01234", "\"v1\""));
    get("bytes=0-4");
  }
  Response get(const std::string& range = "") {
    return client.get(origin.url("/a"), range.empty() ? Fields{} : Fields{{"Range", range}});
  }
};

TEST(HostilePart, IsNotJoinedToTheWhole) {
  for (const auto& lie : kLies) {
    HostilePart scene;
    scene.origin.on("/a", [&](const Request& request) {
      if (request.has("Range")) return part(lie.content_range, lie.body, lie.etag);
      return cacheable(kBytes).with("ETag", "\"v1\"");
    });
    const Response whole = scene.get();
    EXPECT_EQ(whole.status, 200) << lie.name;
    EXPECT_TRUE(whole.whole) << lie.name;
    EXPECT_EQ(whole.body, kBytes) << lie.name;
    EXPECT_EQ(scene.origin.count(), 3U) << lie.name;
    EXPECT_TRUE(is_hit(scene.get("bytes=5-9"))) << lie.name;
  }
}

TEST(HostilePart, IsNotJoinedToALargerPart) {
  for (const auto& lie : kLies) {
    HostilePart scene;
    scene.origin.on("/a", [&](const Request& request) {
      if (request.field("Range") == "bytes=5-9") {
        return part(lie.content_range, lie.body, lie.etag);
      }
      return part("bytes 2-9/10", "23456789", "\"v1\"");
    });
    const Response larger = scene.get("bytes=2-");
    EXPECT_EQ(larger.status, 206) << lie.name;
    EXPECT_EQ(larger.body, "23456789") << lie.name;
    EXPECT_EQ(larger.field("Content-Range"), "bytes 2-9/10") << lie.name;
    EXPECT_EQ(scene.origin.requests("/a").back().field("Range"), "bytes=2-") << lie.name;
  }
}

TEST(HostilePart, IsNotKeptAsMoreThanItIs) {
  for (const auto& lie : kLies) {
    HostilePart scene;
    scene.origin.on("/a", part(lie.content_range, lie.body, lie.etag));
    EXPECT_EQ(scene.get("bytes=5-9").body, lie.body) << lie.name;  // passed on unchanged
    scene.origin.on("/a", cacheable(kBytes).with("ETag", "\"v1\""));
    const Response whole = scene.get();
    EXPECT_EQ(whole.status, 200) << lie.name;
    EXPECT_EQ(whole.body, kBytes) << lie.name;
  }
}

TEST(HostilePart, ThatIsCutIsSeenToBeCut) {
  HostilePart scene;
  scene.origin.on("/a", [](const Request& request) {
    if (!request.has("Range")) return cacheable(kBytes).with("ETag", "\"v1\"");
    return Reply(206, {{"Content-Range", "bytes 5-9/10"}, {"ETag", "\"v1\""}})
        .with("Cache-Control", "max-age=60")
        .sized(5)
        .send("567")
        .cut();
  });
  const Response cut = scene.get();
  EXPECT_FALSE(cut.whole);
  EXPECT_EQ(cut.body, "01234567");
  scene.origin.on("/a", part("bytes 8-9/10", "89", "\"v1\""));
  Client again(scene.proxy.port());
  const Response whole = again.get(scene.origin.url("/a"));
  EXPECT_EQ(whole.body, kBytes);
  EXPECT_EQ(scene.origin.requests("/a").back().field("Range"), "bytes=8-");
}

TEST(HostilePart, ToWhoAskedForTheWholeIsRefused) {
  Scene scene;
  scene.origin.on("/a", part("bytes 0-4/10", "01234", "\"v1\""));
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).status, 502);
}

TEST(HostilePart, OfManyPartsIsPassedOnAndNotKept) {
  Scene scene;
  scene.origin.on("/a", Reply(206, {{"Content-Type", "multipart/byteranges; boundary=x"}})
                            .with("Cache-Control", "max-age=60")
                            .body("--x\r\nContent-Range: bytes 0-0/9\r\n\r\na\r\n--x--\r\n"));
  for (int i = 0; i < 2; ++i) {
    const Response parts = scene.client.get(scene.origin.url("/a"), {{"Range", "bytes=0-0,2-2"}});
    EXPECT_EQ(parts.status, 206);
    EXPECT_FALSE(is_hit(parts));
    EXPECT_FALSE(contains(parts.field("Cache-Status"), "; stored"));
  }
}

TEST(HostilePart, UnsatisfiedIsNotKeptForOthers) {
  Scene scene;
  scene.origin.on("/a", [](const Request& request) {
    if (!request.has("Range")) return cacheable(kBytes);
    return Reply(416, {{"Content-Range", "bytes */10"}, {"Cache-Control", "max-age=60"}})
        .body("no");
  });
  const auto url = scene.origin.url("/a");
  EXPECT_EQ(scene.client.get(url, {{"Range", "bytes=50-"}}).status, 416);
  EXPECT_EQ(scene.client.get(url).body, kBytes);
}

}  // namespace
}  // namespace scenario
