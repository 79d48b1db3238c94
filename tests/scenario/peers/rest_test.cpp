// A body whose source fails is completed by another source that provably has the same.
#include <gtest/gtest.h>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

const Fields kTaggedBody{{"Cache-Control", "max-age=60"}, {"ETag", "\"v1\""}};

const std::string& whole_body() {
  static const std::string body = numbered_bytes(200'000);
  return body;
}

// Sends the first bytes and cuts; to whom asks for the rest, sends that.
Reply cut_reply(const Fields& fields) {
  return Reply(200, fields).sized(whole_body().size()).send(whole_body().substr(0, 70'000)).cut();
}
Reply rest_reply(const Request& request, const Fields& fields) {
  const std::string range = request.field("Range");
  const std::size_t from = std::stoul(range.substr(range.find('=') + 1));
  const auto size = whole_body().size();
  return Reply(206, fields)
      .with("Content-Range", "bytes " + std::to_string(from) + "-" + std::to_string(size - 1) +
                                 "/" + std::to_string(size))
      .body(whole_body().substr(from));
}

// The neighbour's copy is stale when it is asked for the whole, so the origin is asked.
struct CutScene : PeerScene {
  explicit CutScene(const Fields& origins, const Fields& neighbours) : PeerScene({"/a"}) {
    origin.on("/a", cut_reply(origins));
    peer.on("/a", [neighbours](const Request& request) {
      if (request.has("Range")) return rest_reply(request, neighbours);
      return Reply(200, {{"Cache-Control", "max-age=60"}, {"Age", "100"}}).body("stale");
    });
  }
};

TEST(Rest, OfWhatTheOriginCutComesFromANeighbour) {
  CutScene scene(kTaggedBody, kTaggedBody);
  const Response response = scene.get("/a");
  EXPECT_TRUE(response.whole);
  EXPECT_TRUE(response.body == whole_body());
  EXPECT_EQ(scene.peer.requests("/a").at(1).field("If-Range"), "\"v1\"");
}

TEST(Rest, OfAnotherVersionIsNotJoined) {
  const Fields second{{"Cache-Control", "max-age=60"}, {"ETag", "\"v2\""}};
  CutScene scene(kTaggedBody, second);
  EXPECT_FALSE(scene.get("/a").whole);
  EXPECT_EQ(scene.peer.count("/a"), 2U);
  // What came is not stored under the other version's tag.
  scene.client = std::make_unique<Client>(scene.proxy->port());
  const std::string other(whole_body().size(), '2');
  scene.origin.on("/a", Reply(200, second).body(other));
  scene.peer.on("/a", Reply(504).body("no"));
  EXPECT_TRUE(scene.get("/a", {{"Range", "bytes=0-9"}, {"If-Range", "\"v2\""}}).body == other);
  EXPECT_TRUE(scene.get("/a").body == other);
}

TEST(Rest, ComesFromTheOriginIfTheSecondNeighbourCutsToo) {
  TwoPeers scene({"/a"});
  for (auto* peer : {&scene.b, &scene.c}) peer->on("/a", cut_reply(kTaggedBody));
  scene.origin.on("/a", [](const Request& request) {
    return request.has("Range") ? rest_reply(request, kTaggedBody)
                                : Reply(200, kTaggedBody).body(whole_body());
  });
  const Response response = scene.client->get(scene.origin.url("/a"));
  EXPECT_TRUE(response.whole);
  EXPECT_TRUE(response.body == whole_body());
}

TEST(Rest, OfABodyWithoutAStrongValidatorIsNotAskedFor) {
  const Fields weak{{"Cache-Control", "max-age=60"}, {"ETag", "W/\"v1\""}};
  CutScene scene(weak, weak);
  EXPECT_FALSE(scene.get("/a").whole);
  EXPECT_EQ(scene.peer.count("/a"), 1U);
}

// However slow a busy machine makes the neighbours: the origin is not asked beside them.
TEST(Rest, OfWhatANeighbourCutComesFromTheNextBeforeTheOrigin) {
  TwoPeers scene({"/a"}, kAsksAllNeighbours);
  for (auto* peer : {&scene.b, &scene.c}) {
    peer->on("/a", [](const Request& request) {
      return request.has("Range") ? rest_reply(request, kTaggedBody) : cut_reply(kTaggedBody);
    });
  }
  const Response response = scene.client->get(scene.origin.url("/a"));
  EXPECT_TRUE(response.whole);
  EXPECT_TRUE(response.body == whole_body());
  EXPECT_EQ(scene.b.count("/a") + scene.c.count("/a"), 2U);
  EXPECT_EQ(scene.origin.count("/a"), 0U);
  const auto saved = [&](const char* name) {
    return scene.proxy->digest_peer(name).at("bytes_saved").get<std::size_t>();
  };
  EXPECT_TRUE(await([&] { return saved("b") + saved("c") == whole_body().size(); }))
      << saved("b") << " + " << saved("c") << ": both parts count";
}

// The neighbour has won the race by the beginning of the body, and stops.
TEST(Rest, OfWhatStopsComesFromTheOriginSoonAndTheNeighbourRests) {
  PeerScene scene({"/a", "/b"}, kSparesTheOrigin);
  scene.origin.otherwise([](const Request& request) {
    return request.has("Range") ? rest_reply(request, kTaggedBody)
                                : Reply(200, kTaggedBody).body(whole_body());
  });
  const auto stops =
      Reply(200, kTaggedBody).sized(whole_body().size()).send(whole_body().substr(0, 70'000));
  scene.peer.on("/a", Reply(stops).wait(Gate()));
  const auto begun = std::chrono::steady_clock::now();
  const Response response = scene.get("/a");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, allowed(std::chrono::milliseconds(500)));
  EXPECT_TRUE(response.whole);
  EXPECT_TRUE(response.body == whole_body());
  EXPECT_TRUE(await([&] { return scene.books().at("rests").at("broken") == 1; }))
      << scene.books().dump(2);
}

TEST(Rest, OfWhatTheOriginCutComesFromANeighbourThatIsTooSlowOtherwise) {
  PeerScene scene({"/a"}, kSparesTheOrigin);
  scene.get("/unclaimed");  // tells the origin's time
  scene.origin.on("/a", cut_reply(kTaggedBody));
  scene.peer.on("/a", [](const Request& request) {
    if (request.has("Range")) return rest_reply(request, kTaggedBody);
    return Reply(200, {{"Cache-Control", "max-age=60"}, {"Age", "100"}})
        .slow(std::chrono::milliseconds(100), 0)
        .body("stale");
  });
  const Response response = scene.get("/a");
  EXPECT_TRUE(response.whole);
  EXPECT_TRUE(response.body == whole_body());
}

// Nobody has the rest of the version that has begun to arrive.
TEST(Rest, IsGivenUpIfTheOriginHasReplacedTheBody) {
  TwoPeers scene({"/a"});
  for (auto* peer : {&scene.b, &scene.c}) peer->on("/a", cut_reply(kTaggedBody));
  scene.origin.on("/a", cacheable(std::string(300'000, '2')).with("ETag", "\"v2\""));
  const Response response = scene.client->get(scene.origin.url("/a"));
  EXPECT_FALSE(response.whole);
  EXPECT_TRUE(response.body == whole_body().substr(0, 70'000)) << response.body.size();
  ASSERT_EQ(scene.origin.count("/a"), 1U);
  EXPECT_EQ(scene.origin.requests("/a").at(0).field("If-Range"), "\"v1\"");
}

// Nobody could complete such a body, so it is the origin's from its first byte on.
TEST(Rest, IsNotNeededOfALargeBodyWithoutValidator) {
  PeerScene scene({"/a", "/b"});
  const std::string large(6U << 20, 'x');
  const Fields fresh{{"Cache-Control", "max-age=60"}};
  scene.peer.on("/a", Reply(200, fresh).sized(large.size()).send(large.substr(0, 5U << 20)).cut());
  scene.peer.on("/b", Reply(200, fresh).chunked().send(large.substr(0, 5U << 20)).cut());
  for (const char* path : {"/a", "/b"}) {
    const Response response = scene.get(path);
    EXPECT_TRUE(response.whole) << path;
    EXPECT_EQ(response.body, "from the origin") << path;
    EXPECT_EQ(scene.peer.count(path), 1U) << path;
  }
  EXPECT_EQ(scene.books().at("state"), "usable") << "its response was of no use";
}

TEST(Rest, OfALargeBodyWithoutValidatorMayLackIfTheOriginFails) {
  PeerScene scene({"/a", "/b"});
  const std::string large(6U << 20, 'x');
  const Fields fresh{{"Cache-Control", "max-age=60"}};
  scene.origin.otherwise([](const Request&) { return Reply::hang_up(); });
  scene.peer.on("/a", Reply(200, fresh).body(large));
  scene.peer.on("/b", Reply(200, fresh).chunked().send(large));
  for (const char* path : {"/a", "/b"}) {
    const Response response = scene.get(path);
    EXPECT_TRUE(response.whole) << path;
    EXPECT_TRUE(response.body == large) << path;
  }
}

enum class Broken { sized, chunked, damaged };

// A body that ends too early, or in a damaged chunk.
Reply broken_reply(const Fields& fields, std::size_t bytes, Broken how) {
  if (how == Broken::sized)
    return Reply(200, fields).sized(whole_body().size()).send(whole_body().substr(0, bytes)).cut();
  Reply reply = Reply(200, fields).chunked().send(whole_body().substr(0, bytes));
  if (how == Broken::chunked) return reply.cut();
  std::string text;
  for (const auto& step : reply.steps()) text += step.bytes;
  text.resize(text.size() - kLastChunk.size());
  return Reply::raw(text + "xyz\r\nbroken");
}

// The origin has the same under the tag without a coding, and in other bytes.
TEST(Rest, OfABodyThatANeighbourBreaksMakesNoRequestFail) {
  const Fields fresh{{"Cache-Control", "max-age=60"}};
  const Fields weak{{"Cache-Control", "max-age=60"}, {"ETag", "W/\"v1\""}};
  const Fields coded{
      {"Cache-Control", "max-age=60"}, {"ETag", "\"v1\""}, {"Content-Encoding", "gzip"}};
  const struct {
    const char* name;
    Fields fields;
    std::size_t bytes;
  } bodies[] = {{"Tagged", kTaggedBody, 70'000}, {"TaggedEarly", kTaggedBody, 1},
                {"Coded", coded, 70'000},        {"CodedEarly", coded, 1},
                {"Weak", weak, 70'000},          {"Bare", fresh, 70'000}};
  for (const auto& [name, fields, bytes] : bodies) {
    const std::string body =
        fields == kTaggedBody ? whole_body() : std::string(300'000, 'o') + whole_body();
    for (const auto how : {Broken::sized, Broken::chunked, Broken::damaged}) {
      PeerScene scene({"/a"});
      scene.peer.on("/a", broken_reply(fields, bytes, how));
      scene.origin.on("/a", [&body](const Request& request) {
        const std::string range = request.field("Range");
        if (range.empty()) return Reply(200, kTaggedBody).body(body);
        const auto first = std::stoul(range.substr(6));
        const auto size = std::to_string(body.size());
        return Reply(206, kTaggedBody)
            .with("Content-Range", "bytes " + std::to_string(first) + '-' +
                                       std::to_string(body.size() - 1) + '/' + size)
            .body(body.substr(first));
      });
      for (int i = 0; i < 2; ++i) {
        const Response response = scene.get("/a");
        EXPECT_TRUE(response.whole) << name << static_cast<int>(how);
        EXPECT_TRUE(response.body == body)
            << name << static_cast<int>(how) << ' ' << response.body.size();
        EXPECT_FALSE(response.has("Content-Encoding")) << name << static_cast<int>(how);
      }
      EXPECT_EQ(scene.peer.count("/a"), 1U) << name << static_cast<int>(how);
    }
  }
}

// Readers see a little body only once it is whole, so they do not notice that its source broke it.
TEST(Rest, OfALittleBodyThatANeighbourBreaksIsNotNeededThoughTheOriginHasReplacedIt) {
  PeerScene scene({"/a"});
  scene.peer.on("/a", Reply(200, kTaggedBody).sized(50'000).send(std::string(40'000, '1')).cut());
  scene.origin.on("/a", cacheable(std::string(300'000, '2')).with("ETag", "\"v2\""));
  const Response response = scene.get("/a");
  EXPECT_TRUE(response.whole);
  EXPECT_TRUE(response.body == std::string(300'000, '2')) << response.body.size();
}

}  // namespace
}  // namespace scenario
