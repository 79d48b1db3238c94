#include "proxy/answer/hit.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/answer/answer_scene.hpp"

namespace proxy::answer {
namespace {

using namespace std::chrono_literals;

const std::string kUrl = "http://a.test/x";
const std::string kTen = "abcdefghij";
const std::string kDated =
    "ETag: \"v1\"\r\nLast-Modified: Sun, 31 Dec 2023 00:00:00 GMT\r\n"
    "Content-Type: text/plain\r\nCache-Control: max-age=100\r\n";

struct StoredCase {
  const char* name;
  std::string stored;  // fields of the stored response
  std::chrono::seconds age;
  std::string asked;  // fields of the request
  unsigned status;
  std::string content;
  std::string cache_status;
  observe::Tag tag = observe::Tag::mem_hit;
  std::string method = "GET";
};
class AStoredResponse : public testing::TestWithParam<StoredCase> {};

TEST_P(AStoredResponse, Answers) {
  const auto& c = GetParam();
  AnswerScene scene;
  scene.store_response({.url = kUrl, .lines = c.stored}, kTen, c.age);
  const auto& got = scene.ask(c.method + " " + kUrl, c.asked);
  EXPECT_EQ(got.status(), c.status);
  EXPECT_EQ(got.content(), c.content);
  EXPECT_EQ(scene.cache_status(), c.cache_status);
  EXPECT_EQ(scene.record.tag, c.tag);
  EXPECT_EQ(got.field("Age"), std::to_string(c.age.count()));
  EXPECT_EQ(got.field("Via"), "1.1 cache-a");
  EXPECT_TRUE(got.finished());
  EXPECT_FALSE(got.aborted());
  EXPECT_EQ(scene.record.hierarchy, observe::Hierarchy::none) << "nobody was asked";
}

INSTANTIATE_TEST_SUITE_P(
    Requests, AStoredResponse,
    testing::Values(
        StoredCase{"Fresh", kDated, 30s, "", 200, kTen, "cache-a; hit; ttl=70"},
        StoredCase{"FreshForAnEnd", kDated, 99s, "", 200, kTen, "cache-a; hit; ttl=1"},
        StoredCase{"Head", kDated, 30s, "", 200, "", "cache-a; hit; ttl=70", observe::Tag::mem_hit,
                   "HEAD"},
        StoredCase{"OnlyIfCached", kDated, 30s, "Cache-Control: only-if-cached\r\n", 200, kTen,
                   "cache-a; hit; ttl=70"},
        StoredCase{"OldEnough", kDated, 30s, "Cache-Control: max-age=30\r\n", 200, kTen,
                   "cache-a; hit; ttl=70"},
        StoredCase{"FreshForLongEnough", kDated, 30s, "Cache-Control: min-fresh=70\r\n", 200, kTen,
                   "cache-a; hit; ttl=70"},
        StoredCase{"StaleThatTheClientAccepts", kDated, 120s, "Cache-Control: max-stale=60\r\n",
                   200, kTen, "cache-a; hit; ttl=-20"},
        StoredCase{"StaleOfAnyAge", kDated, 9000s, "Cache-Control: max-stale\r\n", 200, kTen,
                   "cache-a; hit; ttl=-8900"},
        StoredCase{"TheClientHasIt", kDated, 30s, "If-None-Match: \"v1\"\r\n", 304, "",
                   "cache-a; hit; ttl=70", observe::Tag::conditional_hit},
        StoredCase{"TheClientHasOneOfSeveral", kDated, 30s, "If-None-Match: \"v0\", W/\"v1\"\r\n",
                   304, "", "cache-a; hit; ttl=70", observe::Tag::conditional_hit},
        StoredCase{"TheClientHasAny", kDated, 30s, "If-None-Match: *\r\n", 304, "",
                   "cache-a; hit; ttl=70", observe::Tag::conditional_hit},
        StoredCase{"TheClientHasAnother", kDated, 30s, "If-None-Match: \"v2\"\r\n", 200, kTen,
                   "cache-a; hit; ttl=70"},
        StoredCase{"UnmodifiedSince", kDated, 30s,
                   "If-Modified-Since: Sun, 31 Dec 2023 00:00:00 GMT\r\n", 304, "",
                   "cache-a; hit; ttl=70", observe::Tag::conditional_hit},
        StoredCase{"ModifiedSince", kDated, 30s,
                   "If-Modified-Since: Sat, 30 Dec 2023 00:00:00 GMT\r\n", 200, kTen,
                   "cache-a; hit; ttl=70"},
        StoredCase{"TheTagWinsOverTheDate", kDated, 30s,
                   "If-None-Match: \"v2\"\r\n"
                   "If-Modified-Since: Sun, 31 Dec 2023 00:00:00 GMT\r\n",
                   200, kTen, "cache-a; hit; ttl=70"},
        StoredCase{"HeadOfWhatTheClientHas", kDated, 30s, "If-None-Match: \"v1\"\r\n", 304, "",
                   "cache-a; hit; ttl=70", observe::Tag::conditional_hit, "HEAD"},
        StoredCase{"Part", kDated, 30s, "Range: bytes=2-4\r\n", 206, "cde", "cache-a; hit; ttl=70"},
        StoredCase{"End", kDated, 30s, "Range: bytes=-3\r\n", 206, "hij", "cache-a; hit; ttl=70"},
        StoredCase{"FromTheMiddle", kDated, 30s, "Range: bytes=8-\r\n", 206, "ij",
                   "cache-a; hit; ttl=70"},
        StoredCase{"PartBeyondTheEnd", kDated, 30s, "Range: bytes=8-99\r\n", 206, "ij",
                   "cache-a; hit; ttl=70"},
        StoredCase{"PartOfTheVersionThatTheClientHas", kDated, 30s,
                   "Range: bytes=2-4\r\nIf-Range: \"v1\"\r\n", 206, "cde", "cache-a; hit; ttl=70"},
        StoredCase{"PartOfAnotherVersion", kDated, 30s, "Range: bytes=2-4\r\nIf-Range: \"v2\"\r\n",
                   200, kTen, "cache-a; hit; ttl=70"},
        StoredCase{"RangeOfAnotherUnit", kDated, 30s, "Range: lines=2-4\r\n", 200, kTen,
                   "cache-a; hit; ttl=70"},
        StoredCase{"HeadIgnoresARange", kDated, 30s, "Range: bytes=2-4\r\n", 200, "",
                   "cache-a; hit; ttl=70", observe::Tag::mem_hit, "HEAD"},
        StoredCase{"BeenHereBefore", kDated, 30s, "Via: 1.1 cache-a\r\n", 200, kTen,
                   "cache-a; hit; ttl=70"}),
    [](const auto& tested) { return tested.param.name; });

TEST(AStoredResponse, HasNoRangeBeyondItsEnd) {
  AnswerScene scene;
  scene.store_response({.url = kUrl, .lines = kDated}, kTen);
  const auto& got = scene.ask("GET " + kUrl, "Range: bytes=10-\r\n");
  EXPECT_EQ(got.status(), 416U);
  EXPECT_EQ(got.field("Content-Range"), "bytes */10");
  EXPECT_EQ(got.field("Via"), "1.1 cache-a");
  EXPECT_EQ(got.field("Date"), cache::kStartDate);
  EXPECT_EQ(got.content(), "");
  EXPECT_EQ(got.length(), 0U);
}

TEST(AStoredResponse, IsSentInSeveralPartsWithOneBoundary) {
  AnswerScene scene;
  scene.store_response({.url = kUrl, .lines = kDated}, kTen);
  const auto& got = scene.ask("GET " + kUrl, "Range: bytes=0-1,8-9\r\n");
  EXPECT_EQ(got.status(), 206U);
  const std::string type = got.field("Content-Type");
  const std::string start = "multipart/byteranges; boundary=";
  ASSERT_TRUE(type.starts_with(start)) << type;
  const auto boundary = "--" + type.substr(start.size());
  EXPECT_EQ(support::count_of(got.content(), boundary), 3U) << got.content();
  for (const auto* part : {"Content-Range: bytes 0-1/10\r\n", "\r\n\r\nab\r\n", "\r\n\r\nij\r\n",
                           "Content-Range: bytes 8-9/10\r\n", "Content-Type: text/plain\r\n"})
    EXPECT_NE(got.content().find(part), std::string::npos) << part << '\n' << got.content();
  EXPECT_EQ(got.length(), got.content().size());
}

TEST(AStoredResponse, AnswersHeadWithTheLengthOfItsBody) {
  AnswerScene scene;
  scene.store_response({.url = kUrl, .lines = kDated}, kTen);
  EXPECT_EQ(scene.ask("HEAD " + kUrl).length(), 10U);
  EXPECT_EQ(scene.ask("GET " + kUrl).length(), 10U);
  EXPECT_EQ(scene.ask("GET " + kUrl, "Range: bytes=1-3\r\n").length(), 3U);
}

TEST(AStoredResponse, CountsItsBytesOnceTheClientHasThem) {
  AnswerScene scene;
  scene.store_response({.url = kUrl, .lines = kDated}, kTen);
  scene.ask("GET " + kUrl);
  EXPECT_EQ(scene.counters.bytes_from_cache.get(), 10U);
  scene.ask("HEAD " + kUrl);
  scene.ask("GET " + kUrl, "If-None-Match: \"v1\"\r\n");
  EXPECT_EQ(scene.counters.bytes_from_cache.get(), 10U) << "neither has a body";
  scene.ask("GET " + kUrl, "Range: bytes=0-3\r\n");
  EXPECT_EQ(scene.counters.bytes_from_cache.get(), 14U);
  scene.response.client_leaves_after(5);
  scene.ask("GET " + kUrl);
  EXPECT_FALSE(scene.state.finished && !scene.response.aborted() &&
               scene.counters.bytes_from_cache.get() > 14U)
      << "the client has left";
}

TEST(AStoredResponse, IsForTheVariantThatTheRequestSelects) {
  AnswerScene scene;
  const std::string lines = kDated + "Vary: Accept-Language\r\n";
  scene.store_response({.url = kUrl, .lines = lines, .request = "Accept-Language: de\r\n"}, "ja");
  scene.store_response({.url = kUrl, .lines = lines, .request = "Accept-Language: en\r\n"}, "yes");
  EXPECT_EQ(scene.ask("GET " + kUrl, "Accept-Language: de\r\n").content(), "ja");
  EXPECT_EQ(scene.ask("GET " + kUrl, "Accept-Language: en\r\n").content(), "yes");
  scene.ask("GET " + kUrl, "Accept-Language: fr\r\nCache-Control: only-if-cached\r\n");
  EXPECT_EQ(scene.response.status(), 504U);
  EXPECT_EQ(scene.cache_status(), "cache-a; fwd=vary-miss");
}

TEST(AStoredResponse, NamesItsKeyIfTheSettingsSaySo) {
  auto settings = open_settings();
  settings.cache.key_in_status = true;
  AnswerScene scene(std::move(settings));
  scene.store_response({.url = kUrl, .lines = kDated}, kTen);
  scene.ask("GET " + kUrl);
  EXPECT_EQ(scene.cache_status(), "cache-a; hit; ttl=100; key=\"http://a.test/x\"");
}

TEST(AStoredResponse, AnswersOfflineHoweverStale) {
  auto settings = open_settings();
  settings.cache.offline = true;
  AnswerScene scene(std::move(settings));
  scene.store_response({.url = kUrl, .lines = kDated}, kTen, 101s);
  EXPECT_EQ(scene.ask("GET " + kUrl).content(), kTen);
  EXPECT_EQ(scene.cache_status(), "cache-a; hit; ttl=-1; detail=\"offline\"");
  scene.store_response({.url = kUrl, .lines = kDated}, kTen, 9s);
  scene.ask("GET " + kUrl);
  EXPECT_EQ(scene.cache_status(), "cache-a; hit; ttl=91") << "fresh: no reason to tell of it";
}

struct DiskCase {
  const char* name;
  std::string asked;
  unsigned status;
  std::string content;
  observe::Tag tag;
  const char* method = "GET";
};

TEST(AStoredResponse, IsReadFromTheDiskIfMemoryHasGivenItUp) {
  for (const DiskCase& c :
       {DiskCase{"whole", "", 200, kTen, observe::Tag::disk_hit},
        DiskCase{"part", "Range: bytes=0-2\r\n", 206, "abc", observe::Tag::disk_hit},
        DiskCase{"known", "If-None-Match: \"v1\"\r\n", 304, "", observe::Tag::conditional_hit},
        DiskCase{"head", "", 200, "", observe::Tag::disk_hit, "HEAD"},
        DiskCase{"only if cached", "Cache-Control: only-if-cached\r\n", 200, kTen,
                 observe::Tag::disk_hit}}) {
    AnswerScene scene(open_settings(), SceneTime::runs);
    scene.add_disk();
    scene.store_response({.url = kUrl, .lines = kDated}, kTen);
    ASSERT_TRUE(scene.disk->settle(10s));
    scene.store.invalidate(cache::key_of(kUrl), kUrl);
    const auto& got = scene.ask(std::string(c.method) + " " + kUrl, c.asked);
    EXPECT_EQ(got.status(), c.status) << c.name;
    EXPECT_EQ(got.content(), c.content) << c.name;
    EXPECT_EQ(scene.record.tag, c.tag) << c.name;
    EXPECT_TRUE(scene.record.from_disk) << c.name;
  }
}

TEST(AStoredResponse, IsValidatedWhileItAnswersOnceItIsStaleForAWhile) {
  support::ScriptedOrigin origin;
  origin.on("/x", support::Reply(304).with("Cache-Control", "max-age=500"));
  AnswerScene scene;
  const auto url = origin.url("/x");
  const auto lines = "ETag: \"v1\"\r\nCache-Control: max-age=100, stale-while-revalidate=60\r\n";
  scene.store_response({.url = url, .lines = lines}, kTen, 120s);
  EXPECT_EQ(scene.ask("GET " + url).content(), kTen);
  EXPECT_EQ(scene.cache_status(), "cache-a; hit; ttl=-20; detail=\"stale-while-revalidate\"");
  const auto is_fresh = [&] { return scene.stored(url)->ttl(scene.clock.now()) > 0s; };
  EXPECT_TRUE(scene.run_until(is_fresh));
  EXPECT_EQ(origin.requests("/x").at(0).field("If-None-Match"), "\"v1\"");
  EXPECT_EQ(scene.ask("GET " + url).content(), kTen);
  EXPECT_EQ(scene.cache_status(), "cache-a; hit; ttl=500");
  EXPECT_EQ(origin.count(), 1U);
}

}  // namespace
}  // namespace proxy::answer
