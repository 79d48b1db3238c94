// The cache's digest: shown to people at /digest, served to neighbours at Squid's path.
#include <gtest/gtest.h>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

digest::SquidDigest published(const ProxyProcess& proxy) {
  const std::string body = proxy.page(kDigestPath).body;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(body.data());
  return *digest::decode({bytes, body.size()});
}

bool claims(const digest::SquidDigest& digest, const std::string& url) {
  return digest.filter.contains(digest::key_of(digest::Method::get, url));
}

bool await_entries(const ProxyProcess& proxy, std::size_t number) {
  return await([&] { return proxy.digest().at("entries") == number; });
}

// Rebuilds the digest in Squid's form every second instead of every ten.
json soon() {
  return {{"digest", {{"squid_period", "1s"}}}};
}

TEST(Digest, IsValidFromTheFirstSecondWhenEmpty) {
  const ProxyProcess proxy;
  const Response response = proxy.page(kDigestPath);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.field("Content-Type"), "application/cache-digest");
  EXPECT_EQ(response.field("Content-Length"), std::to_string(response.body.size()));
  for (const char* name : {"Date", "Last-Modified", "Expires"}) EXPECT_TRUE(response.has(name));
  for (const char* name : {"Vary", "Set-Cookie", "Content-Encoding"}) {
    EXPECT_FALSE(response.has(name)) << name;
  }
  const digest::SquidDigest digest = published(proxy);
  EXPECT_EQ(digest.count, 0U);
  EXPECT_EQ(digest.filter.bits_set(), 0U);
  EXPECT_TRUE(digest.mask_fits_capacity());
  EXPECT_EQ(digest.bits_per_entry, 10);
}

// A request like Squid 5.7's. Squid loses most of a mask that arrives together with the control
// block.
TEST(Digest, PausesBetweenControlBlockAndMask) {
  const ProxyProcess proxy(json{{"digest", {{"squid_pause", "300ms"}}}});
  Client squid(proxy.port());
  squid.send(head_text("GET " + std::string(kDigestPath) + " HTTP/1.1",
                       {{"Accept", "application/cache-digest"},
                        {"Accept", "text/html"},
                        {"Via", "1.1 squid-a.test (squid/5.7)"},
                        {"X-Forwarded-For", "::"},
                        {"Host", proxy.address()},
                        {"Cache-Control", "max-age=259200"},
                        {"Connection", "keep-alive"}}));
  Response response = squid.read_head();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(squid.read_body(128).size(), 128U);
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(squid.read_body(1).size(), 1U);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(200));
  squid.read_rest(response);
  EXPECT_TRUE(response.whole);
}

TEST(Digest, IsServedInAbsoluteFormForTheProxysOwnAddress) {
  const ProxyProcess proxy;
  Client client(proxy.port());
  const Response response = client.get(proxy.url() + kDigestPath);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.field("Content-Type"), "application/cache-digest");
}

TEST(Digest, Answers304ToAConditionAndToNothingElse) {
  const ProxyProcess proxy;
  const Response first = proxy.page(kDigestPath);
  EXPECT_EQ(proxy.page(kDigestPath).status, 200);
  ASSERT_TRUE(first.has("ETag"));
  EXPECT_EQ(proxy.page(kDigestPath, {{"If-None-Match", first.field("ETag")}}).status, 304);
  EXPECT_EQ(proxy.page(kDigestPath, {{"If-None-Match", "\"other\""}}).status, 200);
}

TEST(Digest, SaysWhatTheCacheHolds) {
  Scene scene(soon());
  scene.origin.otherwise([](const Request&) { return cacheable("hello"); });
  for (int i = 0; i < 20; ++i) scene.client.get(scene.origin.url("/" + std::to_string(i)));
  ASSERT_TRUE(await_entries(scene.proxy, 20));
  ASSERT_TRUE(await([&] { return published(scene.proxy).count == 20; }));
  const digest::SquidDigest digest = published(scene.proxy);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(claims(digest, scene.origin.url("/" + std::to_string(i)))) << i;
  }
  EXPECT_FALSE(claims(digest, scene.origin.url("/absent")));
}

TEST(Digest, NeverClaimsWhatASiblingWouldNotGet) {
  Scene scene(soon());
  scene.origin.on("/stale", cacheable("x", "max-age=0").with("ETag", "\"1\""));
  scene.origin.on("/no-cache", cacheable("x", "no-cache").with("ETag", "\"1\""));
  scene.origin.on("/soon-stale", cacheable("x", "max-age=4"));
  scene.origin.on("/no-store", cacheable("x", "no-store"));
  scene.origin.on("/cut", Reply(200, {{"Cache-Control", "max-age=60"}}).sized(9).send("x").cut());
  scene.origin.on("/good", cacheable("x"));
  for (const char* path : {"/stale", "/no-cache", "/soon-stale", "/no-store", "/cut", "/good"}) {
    Client(scene.proxy.port()).get(scene.origin.url(path));
  }
  ASSERT_TRUE(await_entries(scene.proxy, 1));
  EXPECT_TRUE(await([&] { return claims(published(scene.proxy), scene.origin.url("/good")); }));
  EXPECT_EQ(published(scene.proxy).count, 1U);
}

TEST(Digest, ForgetsWhatExpires) {
  Scene scene(soon());
  scene.origin.on("/a", cacheable("hello", "max-age=7"));  // claimed until 5 s before it is stale
  scene.client.get(scene.origin.url("/a"));
  EXPECT_TRUE(await_entries(scene.proxy, 1));
  EXPECT_TRUE(await_entries(scene.proxy, 0));
  EXPECT_TRUE(await([&] { return published(scene.proxy).filter.bits_set() == 0; }));
}

TEST(Digest, ForgetsWhatIsInvalidated) {
  Scene scene;
  scene.origin.on("/a", cacheable("hello"));
  scene.client.get(scene.origin.url("/a"));
  EXPECT_TRUE(await_entries(scene.proxy, 1));
  scene.client.request("POST", scene.origin.url("/a"), {}, "x");
  EXPECT_TRUE(await_entries(scene.proxy, 0));
}

TEST(Digest, ForgetsWhatIsEvicted) {
  Scene scene(json{{"cache", {{"memory", "4MiB"}}}});
  scene.origin.otherwise([](const Request&) { return cacheable(std::string(100'000, 'x')); });
  for (int i = 0; i < 100; ++i) scene.client.get(scene.origin.url("/" + std::to_string(i)));
  EXPECT_TRUE(await([&] {
    const double held = scene.proxy.metric("hearsay_cache_entries");
    return held < 45 && scene.proxy.digest().at("entries") == held;
  }));
}

TEST(Digest, CountsAUrlOnceWhateverItsVariants) {
  Scene scene(soon());
  scene.origin.on("/a", [](const Request&) { return cacheable("x").with("Vary", "Accept"); });
  for (const char* accept : {"text/html", "image/png", "*/*"}) {
    scene.client.get(scene.origin.url("/a"), {{"Accept", accept}});
  }
  EXPECT_TRUE(await_entries(scene.proxy, 1));
  EXPECT_TRUE(await([&] { return published(scene.proxy).count == 1; }));
}

TEST(Digest, GrowsBeforeItIsFull) {
  Scene scene(soon());
  scene.origin.otherwise([](const Request&) { return cacheable("x"); });
  const json before = scene.proxy.digest();
  for (int i = 0; i < 1500; ++i) scene.client.get(scene.origin.url("/" + std::to_string(i)));
  ASSERT_TRUE(await_entries(scene.proxy, 1500));
  const json after = scene.proxy.digest();
  EXPECT_GE(after.at("capacity"), 1500 * 5 / 4);
  EXPECT_NE(after.at("epoch"), before.at("epoch"));
  ASSERT_TRUE(await([&] { return published(scene.proxy).count == 1500; }));
  const digest::SquidDigest digest = published(scene.proxy);
  EXPECT_GE(digest.capacity, 1500U * 5 / 4);
  for (int i = 0; i < 1500; ++i) {
    EXPECT_TRUE(claims(digest, scene.origin.url("/" + std::to_string(i)))) << i;
  }
}

TEST(Digest, IsDescribedForMonitoring) {
  Scene scene(json{{"name", "cache-a"}});
  scene.origin.on("/a", cacheable("x"));
  scene.client.get(scene.origin.url("/a"));
  ASSERT_TRUE(await_entries(scene.proxy, 1));
  const Response page = scene.proxy.page("/digest");
  EXPECT_TRUE(page.field("Content-Type").starts_with("application/json"));
  const json digest = json::parse(page.body);
  EXPECT_EQ(digest.at("name"), "cache-a");
  EXPECT_TRUE(digest.at("epoch").is_string());
  EXPECT_GT(digest.at("generation"), 0);
  EXPECT_EQ(digest.at("hashes"), 8);
  EXPECT_EQ(digest.at("bits_set"), 8);
  EXPECT_EQ(digest.at("bits"), digest.at("capacity").get<int>() * 12);
  EXPECT_EQ(digest.at("bits_per_entry"), 12);
  EXPECT_EQ(digest.at("bytes"), digest.at("bits").get<int>() / 8);
  EXPECT_NEAR(digest.at("fill_ratio"), 8.0 / digest.at("bits").get<int>(), 1e-6);
  EXPECT_LT(digest.at("false_positive_rate"), 1e-6);
  EXPECT_EQ(digest.at("built_at").get<std::string>().at(10), 'T');
  EXPECT_LT(digest.at("age_seconds"), 30);
  EXPECT_TRUE(digest.at("peers").empty());
}

TEST(Digest, DescribesEachPeer) {
  PeerScene scene({"/a", "/b"});
  const json books = scene.books();
  EXPECT_EQ(books.at("name"), "b");
  EXPECT_EQ(books.at("url"), "http://127.0.0.1:" + std::to_string(scene.peer.port()));
  EXPECT_EQ(books.at("kind"), "hearsay");
  EXPECT_EQ(books.at("state"), "usable");
  EXPECT_EQ(books.at("entries"), 2);
  EXPECT_TRUE(books.at("generation").is_null());  // this peer's digest has none
  EXPECT_LT(books.at("age_seconds"), 30);
  EXPECT_LT(books.at("false_positive_rate"), 1e-3);
  for (const char* count : {"claims", "true_hits", "false_hits"}) EXPECT_EQ(books.at(count), 0);
  EXPECT_TRUE(books.at("first_byte_ms").is_null());
}

}  // namespace
}  // namespace scenario
