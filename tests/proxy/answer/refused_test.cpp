// What the request path refuses, and in which order it looks.
#include <gtest/gtest.h>

#include "proxy/lists/read.hpp"
#include "tests/peers/samples.hpp"
#include "tests/proxy/answer/answer_scene.hpp"

namespace proxy::answer {
namespace {

using namespace std::chrono_literals;

const std::string kPage = "http://a.test/x";
const std::string kStale = "Cache-Control: only-if-cached\r\n";

config::Settings plain() {
  return client::quiet_settings();
}
config::Settings offline() {
  auto settings = client::quiet_settings();
  settings.cache.offline = true;
  return settings;
}
config::Settings no_proxy() {
  auto settings = client::quiet_settings();
  settings.gateway.forward = false;
  return settings;
}

struct RefusedCase {
  const char* name;
  config::Settings (*settings)();
  std::string client;
  std::string line;
  std::string lines;
  unsigned status;
  std::string cache_status;
  observe::Tag tag;
};
class ARequest : public testing::TestWithParam<RefusedCase> {};

TEST_P(ARequest, IsRefused) {
  const auto& c = GetParam();
  AnswerScene scene(c.settings());
  scene.client.address = *config::parse_address(c.client);
  const auto& got = scene.ask(c.line, c.lines);
  EXPECT_EQ(got.status(), c.status);
  EXPECT_EQ(scene.cache_status(), c.cache_status);
  EXPECT_EQ(scene.record.tag, c.tag);
  EXPECT_EQ(got.field("Cache-Control"), "no-store");
  EXPECT_TRUE(got.finished());
}

INSTANTIATE_TEST_SUITE_P(
    Requests, ARequest,
    testing::Values(RefusedCase{"ThatWasHereBefore", plain, "127.0.0.1", "GET " + kPage,
                                "Via: 1.1 b, 1.1 cache-a\r\n", 508, "cache-a; detail=\"loop\"",
                                observe::Tag::denied},
                    RefusedCase{"OfAnUnsafeMethodThatWasHereBefore", plain, "127.0.0.1",
                                "POST " + kPage, "Via: 1.1 cache-a\r\nContent-Length: 0\r\n", 508,
                                "cache-a; detail=\"loop\"", observe::Tag::denied},
                    RefusedCase{"OnlyIfCachedThatWasHereBefore", plain, "127.0.0.1", "GET " + kPage,
                                "Via: 1.1 cache-a\r\n" + kStale, 504,
                                "cache-a; detail=\"refused/loop\"", observe::Tag::denied},
                    RefusedCase{"OnlyIfCached", plain, "127.0.0.1", "GET " + kPage, kStale, 504,
                                "cache-a; fwd=uri-miss", observe::Tag::miss},
                    RefusedCase{"OnlyIfCachedWithNoCache", plain, "127.0.0.1", "GET " + kPage,
                                "Cache-Control: only-if-cached, no-cache\r\n", 504,
                                "cache-a; fwd=uri-miss", observe::Tag::miss},
                    RefusedCase{"ForAPartOnlyIfCached", plain, "127.0.0.1", "GET " + kPage,
                                "Range: bytes=0-1\r\n" + kStale, 504, "cache-a; fwd=uri-miss",
                                observe::Tag::miss},
                    RefusedCase{"Offline", offline, "127.0.0.1", "GET " + kPage, "", 504,
                                "cache-a; fwd=uri-miss; detail=\"offline\"", observe::Tag::miss},
                    RefusedCase{"OnlyIfCachedOffline", offline, "127.0.0.1", "GET " + kPage, kStale,
                                504, "cache-a; fwd=uri-miss", observe::Tag::miss},
                    RefusedCase{"OfAStranger", plain, "203.0.113.1", "GET " + kPage, "", 403,
                                "cache-a; detail=\"denied\"", observe::Tag::denied},
                    RefusedCase{"OfAStrangerOnlyIfCached", plain, "203.0.113.1", "GET " + kPage,
                                kStale, 504, "cache-a; detail=\"refused/denied/access.clients\"",
                                observe::Tag::denied},
                    RefusedCase{"ToLoopback", plain, "127.0.0.1", "GET http://127.0.0.1/", "", 403,
                                "cache-a; detail=\"denied\"", observe::Tag::denied},
                    RefusedCase{"OfAProxyThatIsNone", no_proxy, "127.0.0.1", "GET " + kPage, "",
                                403, "cache-a; detail=\"denied\"", observe::Tag::denied},
                    RefusedCase{"ForATunnelToMail", plain, "127.0.0.1", "CONNECT a.test:25", "",
                                403, "cache-a; detail=\"denied\"", observe::Tag::denied},
                    RefusedCase{"ForATunnelOverThisKindOfConnection", plain, "127.0.0.1",
                                "CONNECT a.test:443", "", 501, "cache-a", observe::Tag::denied},
                    RefusedCase{"ForATunnelThatWasHereBefore", plain, "127.0.0.1",
                                "CONNECT a.test:443", "Via: 1.1 cache-a\r\n", 508,
                                "cache-a; detail=\"loop\"", observe::Tag::denied}),
    [](const auto& tested) { return tested.param.name; });

struct DoorCase {
  const char* name;
  policy::Door door;
  std::string line;
  unsigned status;
};

TEST(ADoor, DecidesWhatMayBeAskedFor) {
  for (const DoorCase& c :
       {DoorCase{"own page", policy::Door::network, "GET http://127.0.0.1:3128/health", 200},
        DoorCase{"own page, late", policy::Door::late, "GET http://127.0.0.1:3128/health", 200},
        DoorCase{"stored", policy::Door::network, "GET " + kPage, 200},
        DoorCase{"stored, late", policy::Door::late, "GET " + kPage, 503}}) {
    AnswerScene scene;
    scene.store_response({.url = kPage}, "held");
    scene.client.door = c.door;
    EXPECT_EQ(scene.ask(c.line).status(), c.status) << c.name;
  }
}

TEST(AList, RefusesWhatIsStoredToo) {
  lists::ListBuilder block;
  ASSERT_EQ(lists::read_line("a.test", block), lists::Line::read);
  lists::AccessLists listed{std::move(block).finish(), {}};
  AnswerScene scene(client::quiet_settings(), SceneTime::stands, std::move(listed));
  for (const std::string host : {"a.test", "b.test"}) {
    const auto url = "http://" + host + "/x";
    scene.store_response({.url = url}, "held");
    EXPECT_EQ(scene.ask("GET " + url).status(), host == "a.test" ? 403U : 200U) << host;
  }
  EXPECT_EQ(scene.counters.blocked.get(), 1U);
}

TEST(AMapping, RefusesAUrlThatItsOriginDoesNotHave) {
  AnswerScene scene;
  const auto& got = scene.ask("GET /x");
  EXPECT_GE(got.status(), 400U) << "nothing is mapped";
  EXPECT_TRUE(got.finished());
}

// A neighbour whose poll is older than what we lost since tells a lost claim from a false one.
struct DepartedCase {
  const char* name;
  bool was_stored;
  std::string lines;
  std::string cache_status;
};

TEST(OnlyIfCached, TellsANeighbourWhetherItsDigestIsOld) {
  for (const DepartedCase& c :
       {DepartedCase{"never stored", false, kStale, "cache-a; fwd=uri-miss"},
        DepartedCase{"no digest named", true, kStale, "cache-a; fwd=uri-miss; detail=\"gone\""},
        DepartedCase{"a digest of an earlier run", false, kStale + "Hearsay-Digest: 0123/4\r\n",
                     "cache-a; detail=\"unknown\""}}) {
    AnswerScene scene;
    if (c.was_stored) scene.store_response({.url = kPage}, "held");
    scene.store.invalidate(cache::key_of(kPage), kPage);
    scene.ask("GET " + kPage, c.lines);
    EXPECT_EQ(scene.cache_status(), c.cache_status) << c.name;
  }
}

struct WithheldCase {
  const char* name;
  cache::Stock stored;
  std::string lines;
  unsigned status;
  std::string cache_status;
};

TEST(OnlyIfCached, IsNotAnsweredByWhatANeighbourMayNotHave) {
  const std::string via = "Via: 1.1 b\r\n" + kStale;
  for (const WithheldCase& c :
       {WithheldCase{"stale",
                     {.url = kPage, .lines = "Cache-Control: max-age=10\r\n"},
                     via,
                     504,
                     "cache-a; fwd=stale"},
        WithheldCase{"fresh", {.url = kPage}, via, 200, "cache-a; hit; ttl=80"},
        WithheldCase{"a 404 for a client",
                     {.url = kPage, .status = 404},
                     kStale,
                     404,
                     "cache-a; hit; ttl=80"},
        WithheldCase{
            "a 404 for a proxy", {.url = kPage, .status = 404}, via, 504, "cache-a; fwd=miss"},
        WithheldCase{"a cookie",
                     {.url = kPage, .lines = "Cache-Control: s-maxage=100\r\nSet-Cookie: a=b\r\n"},
                     via,
                     504,
                     "cache-a; fwd=miss; detail=\"refused/set-cookie\""},
        WithheldCase{"a guest's",
                     {.url = kPage, .giver = {7, true}},
                     via,
                     504,
                     "cache-a; fwd=miss; detail=\"refused/unconfirmed\""}}) {
    AnswerScene scene;
    scene.store_response(c.stored, "held", 20s);
    EXPECT_EQ(scene.ask("GET " + kPage, c.lines).status(), c.status) << c.name;
    EXPECT_EQ(scene.cache_status(), c.cache_status) << c.name;
  }
}

TEST(ANeighboursQuestion, IsCountedInNoClassOfResponses) {
  auto settings = client::quiet_settings();
  settings.peers.push_back(peers::samples::peer("b"));
  settings.peers[0].host = "10.9.9.9";
  AnswerScene scene(std::move(settings));
  scene.client.address = *config::parse_address("10.9.9.9");
  scene.ask("GET " + kPage, kStale);
  EXPECT_TRUE(scene.record.question);
  EXPECT_FALSE(scene.record.routine) << "the setting log.site_questions";
  EXPECT_EQ(scene.record.tag, observe::Tag::site_question);
  EXPECT_TRUE(scene.record.by_proxy);
  EXPECT_EQ(scene.response.content(),
            "not stored here, and only stored responses were asked for\n");
}

}  // namespace
}  // namespace proxy::answer
