// Bodies that a digest names: they are verified while they are stored.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/scenario/mirrors/content_scene.hpp"
#include "tests/scenario/peers/parent_scene.hpp"

namespace scenario {
namespace {

TEST(Content, OfAnotherDigestIsNeverWholeAndNotStored) {
  const struct {
    const char* claim;
    std::size_t size;
    bool disk;
    bool chunked;
  } rows[] = {{"small", 6, false, false},
              {"small, in chunks", 6, false, true},
              {"passed on", 40U << 20, false, false},
              {"in blocks", kLarge, true, false},
              {"large, in chunks", kLarge, true, true}};
  for (const bool by_url : {false, true}) {
    for (const auto& row : rows) {
      const TemporaryDirectory home;
      const auto settings = by_url ? by_digest() : json::object();
      Scene scene(row.disk ? with_disk(home, settings) : settings);
      const auto body = numbered_bytes(row.size);
      const auto reply = [&](const std::string& bytes) {
        auto made = row.chunked ? in_chunks(bytes) : validated(bytes);
        return by_url ? made : made.with("Repr-Digest", repr_digest(body));
      };
      const auto path = by_url ? path_of(body) : "/a";
      const auto url = scene.origin.url(path);
      scene.origin.on(path, reply(falsified(body)));
      for (const bool old : {false, true}) {
        Client client(scene.proxy.port());
        client.send(old ? "GET " + url + " HTTP/1.0\r\n\r\n" : request_text("GET", url));
        const auto wrong = client.read();
        EXPECT_FALSE(wrong.status == 200 && wrong.whole) << row.claim << old;
      }
      scene.origin.on(path, reply(body));
      for (int i = 0; i < 2; ++i) {
        const auto right = Client(scene.proxy.port()).get(url);
        EXPECT_TRUE(right.whole && right.body == body) << row.claim;
        EXPECT_TRUE(i > 0 || !is_hit(right)) << row.claim << ": it was stored";
      }
      EXPECT_TRUE(contains(scene.proxy.process().errors(), "does not have the digest"))
          << row.claim;
    }
  }
}

// A neighbour that claims the URL of a body, and an origin that has it.
struct LyingScene : PeerScene {
  explicit LyingScene(const std::string& named, json settings)
      : PeerScene({path_of(named)}, with(std::move(settings))), body(named), path(path_of(named)) {}
  static json with(json settings) {
    settings.update(kSparesTheOrigin);
    return by_digest(std::move(settings));
  }
  void expect_distrust() const {
    EXPECT_EQ(books().at("state"), "resting") << books().dump(2);
    EXPECT_EQ(books().at("reason"), "contradicted");
    EXPECT_EQ(books().at("contradictions"), 1);
  }

  const std::string body;
  const std::string path;
};

TEST(Content, OfANeighbourThatLiesIsReplacedBeforeTheClientSeesIt) {
  LyingScene scene("hello", json::object());
  scene.peer.otherwise([](const Request&) { return validated("hellO"); });
  scene.origin.on(scene.path, validated("hello"));
  const auto got = scene.get(scene.path);
  EXPECT_EQ(got.body, "hello");
  EXPECT_TRUE(contains(nearest_cache_status(got), "wrong/b")) << nearest_cache_status(got);
  scene.expect_distrust();
  EXPECT_TRUE(is_hit(scene.get(scene.path)));
}

TEST(Content, OfANeighbourThatLiesIsCutIfItIsLarge) {
  const TemporaryDirectory home;
  for (const bool disk : {false, true}) {
    LyingScene scene(numbered_bytes(kLarge), disk ? with_disk(home) : json::object());
    const auto lie = validated(falsified(scene.body));
    scene.peer.otherwise([&](const Request&) { return lie; });
    const auto late = allowed(std::chrono::seconds(1));  // no hedge wins
    scene.origin.on(scene.path, validated(scene.body).slow(late, 0));
    const auto wrong = Client(scene.proxy->port()).get(scene.origin.url(scene.path));
    EXPECT_FALSE(wrong.whole && wrong.body != scene.body) << disk;
    scene.expect_distrust();
    const auto right = Client(scene.proxy->port()).get(scene.origin.url(scene.path));
    EXPECT_TRUE(right.whole && right.body == scene.body) << disk;
  }
}

// The client has seen no byte of it.
TEST(Content, OfAParentThatLiesIsAskedOfTheOriginItself) {
  const std::string body = "hello";
  const auto path = path_of(body);
  for (const bool direct : {true, false}) {
    json settings = by_digest();
    if (!direct) settings["never_direct"] = "all";
    ParentScene scene(settings);
    scene.parent.otherwise([](const Request&) { return validated("hellO"); });
    scene.origin.on(path, validated(body));
    const auto got = Client(scene.proxy.port()).get(scene.origin.url(path));
    EXPECT_FALSE(got.whole && got.body == "hellO");
    EXPECT_EQ(got.whole && got.body == body, direct) << got.status;
    EXPECT_EQ(scene.origin.count(path), direct ? 1U : 0U);
    EXPECT_EQ(is_hit(scene.get(path)), direct);
  }
}

// A guest need not be trusted for the bytes. Its head proves nothing.
TEST(Content, OfAGuestIsStoredWithoutItsHead) {
  const std::string body = "hello";
  const auto path = path_of(body);
  json settings = kSparesTheOrigin;
  PeerScene scene({path}, by_digest(settings), "guest");
  scene.peer.otherwise([&](const Request&) {
    return validated(body).with("Content-Type", "text/html").with("X-Guest", "lies");
  });
  scene.origin.on(path, Reply(503));
  EXPECT_EQ(scene.get(path).body, body);
  const auto hit = scene.get(path);
  EXPECT_TRUE(is_hit(hit) && hit.body == body);
  EXPECT_EQ(hit.field("Content-Type"), "application/octet-stream");
  EXPECT_FALSE(hit.has("X-Guest"));
}

TEST(Content, OfAnAnswerToPostIsNotStored) {
  Scene scene(by_digest());
  const auto path = path_of("hello");
  const auto url = scene.origin.url(path);
  scene.origin.on(path, validated("hellO").with("Content-Location", url));
  Client client(scene.proxy.port());
  client.send(request_text("POST", url, {{"Content-Length", "2"}}) + "hi");
  EXPECT_EQ(client.read().body, "hellO");
  scene.origin.on(path, validated("hello"));
  EXPECT_EQ(client.get(url).body, "hello");
}

// Nobody knows which bytes are the last ones, so the end is held back.
TEST(Content, OfUnknownLengthIsStoredInBlocksOnceItIsVerified) {
  const TemporaryDirectory home;
  auto settings = with_disk(home, by_digest());
  settings["cache"]["memory"] = "16MiB";  // an entry in one piece has 2 MiB at most
  Scene scene(settings);
  const auto body = numbered_bytes(kLarge);
  const auto path = path_of(body);
  const auto get = [&](const std::string& of) {
    return Client(scene.proxy.port()).get(scene.origin.url(of));
  };
  scene.origin.on(path, in_chunks(falsified(body)));
  EXPECT_FALSE(get(path).whole);
  EXPECT_EQ(scene.proxy.digest().at("entries"), 0);
  scene.origin.on(path, in_chunks(body));
  for (const bool again : {false, true}) {
    const auto got = get(path);
    EXPECT_TRUE(got.whole && got.body == body);
    EXPECT_EQ(is_hit(got), again);
  }
  const auto shared = get(path_of(body, "/other"));
  EXPECT_TRUE(is_hit(shared) && shared.body == body) << "it is found by its digest, too";
  EXPECT_EQ(scene.origin.count(), 2U);
}

// The blocks are of two answers, of which the first is wrong.
TEST(Content, ThatIsPutTogetherFromBlocksIsVerifiedWithTheLastOne) {
  const TemporaryDirectory home;
  Scene scene(with_disk(home, by_digest()));
  const auto body = numbered_bytes(kLarge);
  auto lie = body;
  lie[10] = '~';
  const auto path = path_of(body);
  const auto get = [&](const Fields& fields = {}) {
    return Client(scene.proxy.port()).get(scene.origin.url(path), fields);
  };
  scene.origin.on(path, [&](const Request& request) { return ranged(lie, request); });
  const auto first = get({{"Range", "bytes=0-2097151"}});
  EXPECT_TRUE(first.status == 206 && first.body == lie.substr(0, 2097152)) << first.status;
  EXPECT_EQ(get({{"Range", "bytes=3145728-4194303"}}).status, 206);
  EXPECT_TRUE(is_hit(get({{"Range", "bytes=0-99"}})));
  // The blocks that are still missing are right.
  scene.origin.on(path, [&](const Request& request) { return ranged(body, request); });
  const auto whole = get();
  EXPECT_FALSE(whole.whole && whole.body == lie);
  EXPECT_TRUE(contains(scene.proxy.process().errors(), "does not have the digest"));
  EXPECT_EQ(scene.proxy.digest().at("entries"), 0) << "a part of it was claimed";
  const auto right = get();
  EXPECT_TRUE(right.whole && right.body == body);
  EXPECT_TRUE(is_hit(get()));
  EXPECT_TRUE(await([&] { return scene.proxy.digest().at("entries") == 2; }));
}

// A source that breaks off within a block is replaced, and nothing of it may stay in a whole.
TEST(Content, OfANeighbourThatLiesAndBreaksOffIsNeverWhole) {
  const TemporaryDirectory home;
  const auto body = numbered_bytes(kLarge);
  auto lie = body;
  lie[10] = '~';
  for (const std::size_t sent : {900U << 10, (1U << 20) + 5, (3U << 20) + 70'000}) {
    LyingScene scene(body, with_disk(home));
    scene.peer.otherwise([&](const Request&) {
      return Reply(200, {{"Cache-Control", "max-age=3600"},
                         {"ETag", "\"v1\""},
                         {"Accept-Ranges", "bytes"}})
          .sized(body.size())
          .send(lie.substr(0, sent))
          .cut();
    });
    const auto late = allowed(std::chrono::seconds(1));  // no hedge wins
    scene.origin.on(scene.path,
                    [&](const Request& request) { return ranged(body, request).slow(late, 0); });
    const auto wrong = Client(scene.proxy->port()).get(scene.origin.url(scene.path));
    EXPECT_FALSE(wrong.whole && wrong.body != body) << sent;
    const auto right = Client(scene.proxy->port()).get(scene.origin.url(scene.path));
    EXPECT_TRUE(right.whole && right.body == body) << sent;
  }
}

// Ranges that are fetched side by side end in any order, and the last one tells.
TEST(Content, OfParallelRangesIsNeverWholeIfOneIsWrong) {
  const TemporaryDirectory home;
  Scene scene(with_disk(home, by_digest()));
  const auto body = numbered_bytes(kLarge);
  const auto path = path_of(body);
  const auto lie = falsified(body);
  scene.origin.on(path, [&](const Request& request) { return ranged(lie, request); });
  std::vector<std::jthread> clients;
  std::atomic<int> whole = 0;
  for (int i = 0; i < 5; ++i) {
    clients.emplace_back([&, i] {
      const auto first = std::to_string(i << 20);
      const auto last = std::to_string(((i + 1) << 20) - 1);
      const auto got = Client(scene.proxy.port())
                           .get(scene.origin.url(path), {{"Range", "bytes=" + first + "-" + last}});
      if (got.whole) ++whole;
    });
  }
  clients.clear();
  EXPECT_LE(whole, 4);
  const auto got = Client(scene.proxy.port()).get(scene.origin.url(path));
  EXPECT_FALSE(got.whole && got.body.size() == body.size());
}

}  // namespace
}  // namespace scenario
