// Which responses are stored, for how long, and what each says about it (RFC 9111, RFC 9211).
#include <gtest/gtest.h>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

using std::chrono::hours;

TEST(Caching, AnswersAgainWithoutTheOrigin) {
  Scene scene;
  scene.origin.on("/a", cacheable("hello"));
  EXPECT_FALSE(is_hit(scene.client.get(scene.origin.url("/a"))));
  const Response hit = scene.client.get(scene.origin.url("/a"));
  EXPECT_TRUE(is_hit(hit));
  EXPECT_EQ(hit.status, 200);
  EXPECT_EQ(hit.body, "hello");
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(Caching, ServesEveryThreadFromOneStore) {
  Scene scene;
  scene.origin.on("/a", cacheable("hello"));
  scene.client.get(scene.origin.url("/a"));
  for (int i = 0; i < 16; ++i) {
    EXPECT_TRUE(is_hit(Client(scene.proxy.port()).get(scene.origin.url("/a"))));
  }
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(Caching, SaysWhyInCacheStatus) {
  Scene scene(json{{"name", "cache-a"}});
  scene.origin.on("/a", cacheable("hello"));
  const std::string url = scene.origin.url("/a");
  const std::string miss = scene.client.get(url).field("Cache-Status");
  EXPECT_TRUE(miss.starts_with("cache-a;")) << miss;
  EXPECT_TRUE(contains(miss, "fwd=uri-miss")) << miss;
  EXPECT_TRUE(contains(miss, "stored")) << miss;
  const std::string hit = scene.client.get(url).field("Cache-Status");
  EXPECT_TRUE(contains(hit, "hit")) << hit;
  EXPECT_TRUE(contains(hit, "ttl=3")) << hit;
  const std::string reload =
      scene.client.get(url, {{"Cache-Control", "no-cache"}}).field("Cache-Status");
  EXPECT_TRUE(contains(reload, "fwd=request")) << reload;
  const std::string post = scene.client.request("POST", url, {}, "x").field("Cache-Status");
  EXPECT_TRUE(contains(post, "fwd=method")) << post;
}

TEST(Caching, TellsAgeAndVia) {
  Scene scene(json{{"name", "cache-a"}});
  scene.origin.on("/a", cacheable("hello").with("Age", "100"));
  scene.client.get(scene.origin.url("/a"));
  const Response hit = scene.client.get(scene.origin.url("/a"));
  EXPECT_GE(std::stoi(hit.field("Age")), 100);
  EXPECT_LE(std::stoi(hit.field("Age")), 110);
  EXPECT_TRUE(contains(hit.field("Via"), "1.1 cache-a"));
}

TEST(Caching, KeepsWhatIsFreshByAnyOfItsRules) {  // RFC 9111 section 4.2.1
  Scene scene;
  const std::vector<Fields> fresh = {
      {{"Cache-Control", "max-age=60"}},
      {{"Cache-Control", "max-age=0, s-maxage=60"}},
      {{"Expires", http_date(hours(1))}},
      {{"Last-Modified", http_date(-hours(240))}},
  };
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    const std::string path = "/" + std::to_string(i);
    scene.origin.on(path, Reply(200, fresh[i]).with("Date", http_date()).body("hello"));
    scene.client.get(scene.origin.url(path));
    EXPECT_TRUE(is_hit(scene.client.get(scene.origin.url(path)))) << fresh[i][0].second;
  }
}

struct Unstorable {
  const char* name;
  Fields request;
  Fields response;
};

void PrintTo(const Unstorable& test, std::ostream* out) {
  *out << test.name;
}

class NeverStored : public testing::TestWithParam<Unstorable> {};

TEST_P(NeverStored, IsFetchedEachTime) {
  Scene scene;
  scene.origin.on("/a", Reply(200, GetParam().response).body("hello"));
  for (int i = 0; i < 2; ++i) {
    const Response response = scene.client.get(scene.origin.url("/a"), GetParam().request);
    EXPECT_EQ(response.body, "hello");
    EXPECT_FALSE(is_hit(response));
  }
  EXPECT_EQ(scene.origin.count(), 2U);
}

INSTANTIATE_TEST_SUITE_P(
    Caching, NeverStored,
    testing::Values(
        Unstorable{"NoStore", {}, {{"Cache-Control", "no-store, max-age=60"}}},
        Unstorable{"Private", {}, {{"Cache-Control", "private, max-age=60"}}},
        Unstorable{
            "NoStoreAsked", {{"Cache-Control", "no-store"}}, {{"Cache-Control", "max-age=60"}}},
        Unstorable{
            "Authorized", {{"Authorization", "Basic bWU6bWU="}}, {{"Cache-Control", "max-age=60"}}},
        Unstorable{"VaryStar", {}, {{"Cache-Control", "max-age=60"}, {"Vary", "*"}}},
        Unstorable{"NothingSaid", {}, {}}, Unstorable{"Expired", {}, {{"Expires", "0"}}}),
    [](const auto& test) { return test.param.name; });

TEST(Caching, KeepsAnAuthorizedResponseByLeave) {  // RFC 9111 section 3.5
  Scene scene;
  scene.origin.on("/a", cacheable("hello", "public, max-age=60"));
  scene.client.get(scene.origin.url("/a"), {{"Authorization", "Basic bWU6bWU="}});
  EXPECT_TRUE(is_hit(scene.client.get(scene.origin.url("/a"))));
}

TEST(Caching, SelectsByVary) {
  Scene scene;
  scene.origin.on("/a", [](const Request& request) {
    return cacheable(request.field("Accept-Language")).with("Vary", "Accept-Language");
  });
  const auto get = [&](const char* language) {
    return scene.client.get(scene.origin.url("/a"), {{"Accept-Language", language}});
  };
  EXPECT_EQ(get("de").body, "de");
  const Response other = get("fr");
  EXPECT_EQ(other.body, "fr");
  EXPECT_TRUE(contains(other.field("Cache-Status"), "fwd=vary-miss"));
  for (const char* language : {"de", "fr"}) {
    const Response again = get(language);
    EXPECT_TRUE(is_hit(again));
    EXPECT_EQ(again.body, language);
  }
  EXPECT_EQ(scene.origin.count(), 2U);
}

TEST(Caching, AnswersAConditionFromTheStoredResponse) {
  Scene scene;
  scene.origin.on("/a", cacheable("hello").with("ETag", "\"v1\""));
  const std::string url = scene.origin.url("/a");
  scene.client.get(url);
  const Response same = scene.client.get(url, {{"If-None-Match", "\"v1\""}});
  EXPECT_EQ(same.status, 304);
  EXPECT_TRUE(is_hit(same));
  const Response other = scene.client.get(url, {{"If-None-Match", "\"v0\""}});
  EXPECT_EQ(other.status, 200);
  EXPECT_EQ(other.body, "hello");
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(Caching, AnswersHeadFromAStoredGet) {
  Scene scene;
  scene.origin.on("/a", cacheable("hello"));
  scene.client.get(scene.origin.url("/a"));
  const Response head = scene.client.request("HEAD", scene.origin.url("/a"));
  EXPECT_EQ(head.field("Content-Length"), "5");
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(Caching, NeverTakesAPartForTheWhole) {
  Scene scene;
  scene.origin.on("/a", [](const Request& request) {
    if (!request.has("Range")) return cacheable("hello world");
    return Reply(206, {{"Cache-Control", "max-age=60"}, {"Content-Range", "bytes 0-4/11"}})
        .body("hello");
  });
  const Response part = scene.client.get(scene.origin.url("/a"), {{"Range", "bytes=0-4"}});
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "hello");
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).body, "hello world");
}

TEST(Caching, StaysWithinItsMemory) {
  Scene scene(json{{"cache", {{"memory", "8MiB"}}}});
  scene.origin.otherwise([](const Request&) { return cacheable(std::string(200'000, 'x')); });
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(scene.client.get(scene.origin.url("/" + std::to_string(i))).body.size(), 200'000U);
  }
  EXPECT_TRUE(is_hit(scene.client.get(scene.origin.url("/99"))));
  EXPECT_GT(scene.proxy.metric("hearsay_cache_bytes"), 2'000'000);
  EXPECT_LE(scene.proxy.metric("hearsay_cache_bytes"), 8U << 20);
}

TEST(Caching, KeepsTheOnlyIfCachedClientFromTheOrigin) {  // RFC 9111 section 5.2.1.7
  Scene scene;
  scene.origin.on("/a", cacheable("hello"));
  const std::string url = scene.origin.url("/a");
  const Fields only_if_cached{{"Cache-Control", "only-if-cached"}};
  EXPECT_EQ(scene.client.get(url, only_if_cached).status, 504);
  EXPECT_EQ(scene.origin.count(), 0U);
  scene.client.get(url);
  EXPECT_EQ(scene.client.get(url, only_if_cached).body, "hello");
  EXPECT_EQ(scene.origin.count(), 1U);
}

TEST(Caching, StoresNothingThatWasCutAndShowsTheCut) {
  const std::pair<const char*, Reply> cuts[] = {
      {"chunked", Reply(200, {{"Cache-Control", "max-age=60"}}).chunked().send("12345").cut()},
      {"in a chunk's size", Reply::raw("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
                                       "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n1")},
      {"bad chunk", Reply::raw("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
                               "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\nxyz\r\n")},
      {"before the trailer's end", Reply::raw("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
                                              "Transfer-Encoding: chunked\r\n\r\n"
                                              "5\r\n12345\r\n0\r\n")},
      {"sized", Reply(200, {{"Cache-Control", "max-age=60"}}).sized(10).send("12345").cut()},
  };
  for (const auto& [name, reply] : cuts) {
    Scene scene;
    scene.origin.on("/a", reply);
    const Response cut = scene.client.get(scene.origin.url("/a"));
    EXPECT_FALSE(cut.whole) << name;
    EXPECT_TRUE(scene.client.is_closed()) << name;
    scene.origin.on("/a", cacheable("1234567890"));
    Client second(scene.proxy.port());
    const Response whole = second.get(scene.origin.url("/a"));
    EXPECT_EQ(whole.body, "1234567890") << name;
    EXPECT_FALSE(is_hit(whole)) << name;
  }
}

}  // namespace
// The proxy closes the origin's connection when the reader has left. That close does not end the
// body.
TEST(Caching, StoresNothingOfABodyWhoseReaderLeft) {
  Scene scene;
  Gate more;
  Gate still_more;
  Gate never;
  const Reply endless = Reply(200, {{"Cache-Control", "max-age=60"}})  // ends at the close
                            .send("first")
                            .wait(more)
                            .send("second")
                            .wait(still_more)
                            .send(std::string(1 << 20, 'x'))  // takes several writes
                            .wait(never);
  scene.origin.on("/a", [&](const Request&) {
    return scene.origin.count("/a") == 1 ? endless : cacheable("the whole");
  });
  Client leaving(scene.proxy.port());
  leaving.send("GET " + scene.origin.url("/a") + " HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(leaving.read_head().status, 200);
  leaving.leave();
  more.open();  // the proxy's next write gets a reset, which a later write reports
  ASSERT_TRUE(await(
      [&] { return scene.proxy.metric("hearsay_body_bytes_total{source=\"origin\"}") >= 11; }));
  still_more.open();
  ASSERT_TRUE(await([&] { return scene.proxy.metric("hearsay_aborted_total") >= 1; }));
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).body, "the whole");
}

}  // namespace scenario
