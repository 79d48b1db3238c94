#include "proxy/reply/stored.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/proxy/client/serve_scene.hpp"

namespace proxy::reply {
namespace {

using namespace std::chrono_literals;

const std::string kLetters = "abcdefghijklmnopqrst";  // 20 of them
const std::string kFieldsOfStored =
    "ETag: \"v1\"\r\nContent-Type: text/plain\r\nX-Other: 1\r\nCache-Control: max-age=100\r\n";

// `slices`: of how many blocks of memory the body consists.
cache::Ref<const cache::Entry> sliced(client::ServeScene& scene, std::size_t slices) {
  auto entry = scene.entry_of({.url = "http://a.test/x", .lines = kFieldsOfStored});
  cache::Body body;
  const auto size = kLetters.size() / slices;
  for (std::size_t i = 0; i < slices; ++i) {
    const auto text = kLetters.substr(i * size, size);
    const auto part = scene.entry_of({}, text);
    body.slices.push_back(part->body.slices.front());
    body.size += text.size();
  }
  const_cast<cache::Entry&>(*entry).body = std::move(body);
  return entry;
}

struct SentCase {
  const char* name;
  std::string lines;
  std::string content;
  unsigned status = 206;
  std::string range = "";  // the value of Content-Range
};
class Stored : public testing::TestWithParam<std::tuple<SentCase, std::size_t>> {};

TEST_P(Stored, IsSentWholeOrInPartWhereverItsBlocksEnd) {
  const auto& [c, slices] = GetParam();
  client::ServeScene scene;
  const auto entry = sliced(scene, slices);
  const client::SceneRequest request(scene, c.lines);
  scene.run(send_stored(scene.client, *request, *entry, scene.clock.now()));
  const auto& got = scene.response;
  EXPECT_EQ(got.status(), c.status);
  EXPECT_EQ(got.content(), c.content);
  EXPECT_EQ(got.length(), c.content.size());
  EXPECT_EQ(got.field("Content-Range"), c.range);
  EXPECT_TRUE(got.finished());
  EXPECT_EQ(scene.counters.bytes_from_cache.get(), c.content.size());
  if (c.status == 416) return;
  EXPECT_EQ(got.field("ETag"), "\"v1\"");
  EXPECT_EQ(got.field("Content-Type"), "text/plain");
}

INSTANTIATE_TEST_SUITE_P(
    Ranges, Stored,
    testing::Combine(
        testing::Values(
            SentCase{"Whole", "", kLetters, 200},
            SentCase{"First", "Range: bytes=0-0\r\n", "a", 206, "bytes 0-0/20"},
            SentCase{"Last", "Range: bytes=-1\r\n", "t", 206, "bytes 19-19/20"},
            SentCase{"Middle", "Range: bytes=3-12\r\n", "defghijklm", 206, "bytes 3-12/20"},
            SentCase{"All", "Range: bytes=0-\r\n", kLetters, 206, "bytes 0-19/20"},
            SentCase{"MoreThanAll", "Range: bytes=0-99\r\n", kLetters, 206, "bytes 0-19/20"},
            SentCase{"Beyond", "Range: bytes=20-\r\n", "", 416, "bytes */20"},
            SentCase{"None", "Range: bytes=-0\r\n", "", 416, "bytes */20"}),
        testing::Values(1, 2, 5, 20)),
    [](const auto& tested) {
      return std::string(std::get<0>(tested.param).name) + "In" +
             std::to_string(std::get<1>(tested.param));
    });

TEST(Stored, OfManyBlocksIsCutShortWhereTheClientLeaves) {
  for (const std::uint64_t leaves : {0, 5, 17}) {
    client::ServeScene scene;
    const auto entry = sliced(scene, 20);
    const client::SceneRequest request(scene, "");
    scene.response.client_leaves_after(leaves);
    scene.run(send_stored(scene.client, *request, *entry, scene.clock.now()));
    EXPECT_EQ(scene.response.content(), kLetters.substr(0, leaves));
    EXPECT_FALSE(scene.state.finished) << leaves;
    EXPECT_EQ(scene.counters.bytes_from_cache.get(), 0U) << leaves;
  }
}

TEST(Stored, AnswersHeadWithoutABody) {
  for (const std::size_t slices : {1, 20}) {
    client::ServeScene scene;
    scene.response.begin(true);
    const auto entry = sliced(scene, slices);
    const client::SceneRequest request(scene, "", "HEAD http://a.test/x HTTP/1.1");
    scene.run(send_stored(scene.client, *request, *entry, scene.clock.now()));
    EXPECT_EQ(scene.response.content(), "");
    EXPECT_EQ(scene.response.length(), 20U);
    EXPECT_TRUE(scene.state.finished);
    EXPECT_EQ(scene.counters.bytes_from_cache.get(), 0U);
  }
}

TEST(Stored, OfSeveralRangesNamesEachPart) {
  client::ServeScene scene;
  const auto entry = sliced(scene, 5);
  const client::SceneRequest request(scene, "Range: bytes=2-5,18-\r\n");
  scene.run(send_stored(scene.client, *request, *entry, scene.clock.now()));
  const auto& got = scene.response;
  EXPECT_EQ(got.status(), 206U);
  const auto type = got.field("Content-Type");
  const auto boundary = type.substr(type.find('=') + 1);
  EXPECT_EQ(got.content(), "\r\n--" + boundary +
                               "\r\nContent-Type: text/plain\r\nContent-Range: bytes 2-5/20\r\n"
                               "\r\ncdef\r\n--" +
                               boundary +
                               "\r\nContent-Type: text/plain\r\nContent-Range: bytes 18-19/20\r\n"
                               "\r\nst\r\n--" +
                               boundary + "--\r\n");
  EXPECT_EQ(got.length(), got.content().size());
}

TEST(Stored, ThatTheClientHasIsA304WithTheFieldsThatTellOfIt_Rfc9110_15_4_5) {
  client::ServeScene scene;
  const auto entry = sliced(scene, 1);
  const client::SceneRequest request(scene, "Range: bytes=0-3\r\n");
  scene.run(send_not_modified(scene.client, *entry));
  const auto& got = scene.response;
  EXPECT_EQ(got.status(), 304U);
  EXPECT_EQ(got.length(), std::nullopt);
  EXPECT_EQ(got.field("ETag"), "\"v1\"");
  EXPECT_EQ(got.field("Cache-Control"), "max-age=100");
  EXPECT_EQ(got.field("Via"), "1.1 cache-a");
  EXPECT_EQ(got.field("Date"), cache::kStartDate);
  EXPECT_TRUE(got.finished());
}

TEST(Boundary, IsLongAndNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const auto boundary = random_boundary();
    EXPECT_EQ(boundary.size(), 26U);
    EXPECT_TRUE(seen.insert(boundary).second);
  }
}

}  // namespace
}  // namespace proxy::reply
