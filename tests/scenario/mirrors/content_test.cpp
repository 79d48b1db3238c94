// Bodies that a digest names: they are verified while they are stored.
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include "digest/base64.hpp"
#include "tests/scenario/peers/parent_scene.hpp"
#include "tests/support/temporary_directory.hpp"

namespace scenario {
namespace {

std::vector<std::uint8_t> sha256(const std::string& body) {
  std::vector<std::uint8_t> digest(32);
  EVP_Digest(body.data(), body.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  return digest;
}
std::string repr_digest(const std::string& body) {
  return "sha-256=:" + digest::to_base64(sha256(body)) + ":";
}
// The path under which a body is stored and asked for by its digest.
std::string content_path(const std::string& body) {
  std::string path = "/sha256/";
  for (const auto byte : sha256(body)) {
    for (const auto half : {byte >> 4, byte & 15}) path += "0123456789abcdef"[half];
  }
  return path;
}
std::string content_url(const std::string& body) {
  return "http://content.hearsay.invalid" + content_path(body);
}

// The same length, and one other byte at the end.
std::string falsified(std::string body) {
  body.back() = '~';
  return body;
}

Reply validated(std::string body) {
  return cacheable(std::move(body)).with("ETag", "\"v1\"").with("Accept-Ranges", "bytes");
}
Reply in_chunks(const std::string& body) {
  return Reply(200, {{"Cache-Control", "max-age=3600"}}).chunked().send(body);
}

json with_disk(const TemporaryDirectory& home) {
  return {{"cache",
           {{"disk",
             {{"path", (home.path() / "c").string()}, {"size", "128MiB"}, {"admit", "first"}}}}}};
}

constexpr std::size_t kLarge = 5U << 20;

TEST(Content, OfAnotherDigestThanTheOriginSaysIsNeverWholeAndNotStored) {
  const TemporaryDirectory home;
  const struct {
    const char* claim;
    std::size_t size;
    bool disk;
    bool chunked;
  } rows[] = {{"small", 6, false, false},
              {"small, in chunks", 6, false, true},
              {"passed on", 40U << 20, false, false},
              {"in blocks", kLarge, true, false},
              {"in blocks, in chunks", kLarge, true, true}};
  for (const auto& row : rows) {
    Scene scene(row.disk ? with_disk(home) : json::object());
    const auto body = numbered_bytes(row.size);
    const auto reply = [&](const std::string& bytes) {
      return (row.chunked ? in_chunks(bytes) : validated(bytes))
          .with("Repr-Digest", repr_digest(body));
    };
    const auto url = scene.origin.url("/a");
    scene.origin.on("/a", reply(falsified(body)));
    for (const bool old : {false, true}) {
      Client client(scene.proxy.port());
      client.send(old ? "GET " + url + " HTTP/1.0\r\n\r\n" : request_text("GET", url));
      const auto wrong = client.read();
      EXPECT_FALSE(wrong.status == 200 && wrong.whole) << row.claim << old;
    }
    EXPECT_EQ(scene.origin.count("/a"), 2U) << row.claim << ": it was stored";
    scene.origin.on("/a", reply(body));
    for (int i = 0; i < 2; ++i) {
      const auto right = Client(scene.proxy.port()).get(url);
      EXPECT_TRUE(right.whole && right.body == body) << row.claim;
    }
    EXPECT_TRUE(contains(scene.proxy.process().errors(), "does not have the digest")) << row.claim;
  }
}

// A parent is asked for the URL of the digest, which no origin has.
struct ContentScene {
  explicit ContentScene(const std::string& named, json settings = json::object(),
                        const char* trust = "site")
      : body(named), url(content_url(named)), path(content_path(named)) {
    neighbour.on(kDigestPath, digest_reply(digest_claiming({url})));
    neighbour.sign_as("b");
    settings["digest"]["prefer"] = "origin-load";
    settings["timeouts"]["peer_first_byte"] = "20s";
    settings = with_parent("p", parent.port(), settings);
    settings["peers"].push_back(with_peer("b", neighbour.port())["peers"][0]);
    settings["peers"][1]["trust"] = trust;
    proxy = std::make_unique<ProxyProcess>(settings);
    if (!await([&] { return proxy->digest_peer("b").at("state") == "usable"; }))
      throw TimedOut("the peer's digest is not used: " + proxy->digest().dump(2));
  }
  Response get(const Fields& fields = {}) const { return Client(proxy->port()).get(url, fields); }
  void expect_distrust() const {
    const auto books = proxy->digest_peer("b");
    EXPECT_EQ(books.at("state"), "resting") << books.dump(2);
    EXPECT_EQ(books.at("reason"), "contradicted");
    EXPECT_EQ(books.at("contradictions"), 1);
  }

  const std::string body;
  const std::string url;
  const std::string path;
  ScriptedOrigin parent;
  ScriptedOrigin neighbour;
  std::unique_ptr<ProxyProcess> proxy;
};

TEST(Content, OfANeighbourThatLiesIsReplacedBeforeTheClientSeesIt) {
  ContentScene scene("hello");
  scene.neighbour.otherwise([](const Request&) { return validated("hellO"); });
  scene.parent.otherwise([](const Request&) { return validated("hello"); });
  const auto got = scene.get();
  EXPECT_EQ(got.body, "hello");
  EXPECT_TRUE(contains(nearest_cache_status(got), "wrong/b")) << nearest_cache_status(got);
  scene.expect_distrust();
  EXPECT_TRUE(is_hit(scene.get()));
  EXPECT_EQ(scene.neighbour.requests(scene.url).size() + scene.neighbour.count(scene.path), 1U);
}

TEST(Content, OfANeighbourThatLiesIsCutIfItIsLarge) {
  const TemporaryDirectory home;
  for (const bool disk : {false, true}) {
    ContentScene scene(numbered_bytes(kLarge), disk ? with_disk(home) : json::object());
    const auto lie = validated(falsified(scene.body));
    const auto truth =
        validated(scene.body).slow(allowed(std::chrono::seconds(1)), 0);  // no hedge wins
    scene.neighbour.otherwise([&](const Request&) { return lie; });
    scene.parent.otherwise([&](const Request&) { return truth; });
    const auto wrong = scene.get();
    EXPECT_FALSE(wrong.whole && wrong.body.size() == scene.body.size()) << disk;
    scene.expect_distrust();
    const auto right = scene.get();
    EXPECT_TRUE(right.whole && right.body == scene.body) << disk;
    EXPECT_TRUE(is_hit(scene.get()));
  }
}

TEST(Content, OfAGuestIsStoredAndSharedLikeAnyOther) {
  const TemporaryDirectory home;
  for (const auto size : {std::size_t{5}, kLarge}) {
    ContentScene scene(numbered_bytes(size), with_disk(home), "guest");
    scene.neighbour.otherwise([&](const Request&) { return validated(scene.body); });
    EXPECT_TRUE(scene.get().body == scene.body);
    const auto given = scene.get({{"Cache-Control", "only-if-cached"}, {"Via", "1.1 c.test"}});
    EXPECT_TRUE(given.body == scene.body) << nearest_cache_status(given);
    EXPECT_EQ(scene.parent.count(), 0U);
  }
}

TEST(Content, IsAskedForWithoutCodingsAndNotStoredIfItIsCoded) {
  ContentScene scene("hello");
  scene.neighbour.otherwise([](const Request&) { return Reply(504); });
  scene.parent.otherwise(
      [](const Request&) { return validated("coded").with("Content-Encoding", "gzip"); });
  for (int i = 0; i < 2; ++i) {
    const auto got = scene.get({{"Accept-Encoding", "gzip, br"}});
    EXPECT_EQ(got.body, "coded");
    EXPECT_TRUE(contains(nearest_cache_status(got), "content-name")) << nearest_cache_status(got);
  }
  EXPECT_EQ(scene.parent.requests().at(0).field("Accept-Encoding"), "identity");
}

TEST(Content, ThatIsNotFoundIsNotStoredForOthers) {
  ContentScene scene("hello");
  scene.neighbour.otherwise([](const Request&) { return Reply(504); });
  scene.parent.otherwise([](const Request&) {
    return Reply(404, {{"Cache-Control", "max-age=60"}});
  });
  EXPECT_EQ(scene.get().status, 404);
  scene.parent.otherwise([](const Request&) { return cacheable("hello"); });
  EXPECT_EQ(scene.get().body, "hello");
}

// The parts are of two answers, of which the first is wrong.
TEST(Content, ThatIsPutTogetherFromBlocksIsVerifiedWithTheLastOne) {
  const TemporaryDirectory home;
  ContentScene scene(numbered_bytes(kLarge), with_disk(home));
  scene.neighbour.otherwise([](const Request&) { return Reply(504); });
  auto lie = scene.body;
  lie[10] = '~';
  const auto part_of = [](const std::string& body, const Request& request) {
    const auto range = request.field("Range");
    if (range.empty()) return validated(body);
    const auto first = std::stoull(range.substr(6));
    const auto dash = range.find('-');
    const auto last =
        dash + 1 < range.size() ? std::stoull(range.substr(dash + 1)) : body.size() - 1;
    return Reply(206,
                 {{"Cache-Control", "max-age=3600"},
                  {"ETag", "\"v1\""},
                  {"Content-Range", "bytes " + std::to_string(first) + "-" + std::to_string(last) +
                                        "/" + std::to_string(body.size())}})
        .body(body.substr(first, last - first + 1));
  };
  scene.parent.otherwise([&](const Request& request) { return part_of(lie, request); });
  const auto first = scene.get({{"Range", "bytes=0-2097151"}});
  EXPECT_TRUE(first.status == 206 && first.body == lie.substr(0, 2097152)) << first.status;
  const auto middle = scene.get({{"Range", "bytes=3145728-4194303"}});
  EXPECT_EQ(middle.status, 206);
  EXPECT_TRUE(is_hit(scene.get({{"Range", "bytes=0-99"}})));
  // The blocks that are still missing are right.
  scene.parent.otherwise([&](const Request& request) { return part_of(scene.body, request); });
  const auto whole = scene.get();
  EXPECT_FALSE(whole.whole && whole.body == lie);
  EXPECT_TRUE(contains(scene.proxy->process().errors(), "does not have the digest"));
  EXPECT_EQ(scene.proxy->digest().at("entries"), 0);
  const auto right = scene.get();
  EXPECT_TRUE(right.whole && right.body == scene.body);
  EXPECT_TRUE(is_hit(scene.get()));
  EXPECT_TRUE(await([&] { return scene.proxy->digest().at("entries") == 1; }));
}

// Each has a parent of its own, so that it matters who is asked.
TEST(Content, IsClaimedUnderItsDigestAndGivenToANeighbour) {
  const TemporaryDirectory home;
  for (const auto size : {std::size_t{5}, kLarge}) {
    const auto body = numbered_bytes(size);
    ScriptedOrigin parent;
    parent.otherwise([&](const Request&) { return validated(body); });
    const Listener at_a;
    const Listener at_b;
    const auto settings = [&](const char* name, const char* other, const Listener& there) {
      json all = with_peer(other, there.port(), with_disk(home));
      all["cache"]["disk"]["path"] = (home.path() / (name + std::to_string(size))).string();
      all["name"] = name;
      all["peers"].push_back(with_parent("p", parent.port())["peers"][0]);
      return all;
    };
    ProxyProcess a(settings("a", "b", at_b), at_a);
    ProxyProcess b(settings("b", "a", at_a), at_b);
    EXPECT_TRUE(Client(a.port()).get(content_url(body)).body == body);
    ASSERT_TRUE(await([&] { return b.digest_peer("a").at("entries") >= 1; }));
    const auto given = Client(b.port()).get(content_url(body));
    EXPECT_TRUE(given.body == body);
    EXPECT_TRUE(contains(nearest_cache_status(given), "peer/a")) << nearest_cache_status(given);
    EXPECT_EQ(parent.count(), 1U);
  }
}

}  // namespace
}  // namespace scenario
