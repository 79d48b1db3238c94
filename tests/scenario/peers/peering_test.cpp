// On a miss, the proxy asks a neighbour that claims the URL before the origin. A bad answer never
// harms the client.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

TEST(Peering, TakesFromTheNeighbourWhatItClaims) {
  const Neighbours neighbours;
  ScriptedOrigin origin;
  const std::string body = numbered_bytes(3U << 20);
  origin.on("/a", cacheable(body));
  Client(neighbours.a.port()).get(origin.url("/a"));
  ASSERT_TRUE(neighbours.b_knows(1));
  const Response response = Client(neighbours.b.port()).get(origin.url("/a"));
  EXPECT_TRUE(response.body == body);
  EXPECT_EQ(origin.count("/a"), 1U);
  EXPECT_TRUE(contains(response.field("Cache-Status"), "peer/a")) << response.field("Cache-Status");
  // b may have logged a's question, too: whether b fetches the URL. Each thread has its own lines.
  const auto is_taken = [](const auto& line) { return line.hierarchy == "CD_SIBLING_HIT"; };
  EXPECT_TRUE(await([&] {
    const auto lines = neighbours.b.access_log();
    return std::any_of(lines.begin(), lines.end(), is_taken);
  }));
  const json books = neighbours.b.digest_peer("a");
  EXPECT_EQ(books.at("kind"), "hearsay");
  EXPECT_EQ(books.at("true_hits"), 1);
  EXPECT_EQ(books.at("false_hits"), 0);
  EXPECT_GE(books.at("bytes_saved"), body.size());
  EXPECT_GT(books.at("first_byte_ms"), 0.0);
}

TEST(Peering, StoresWhatTheNeighbourGave) {
  const Neighbours neighbours;
  ScriptedOrigin origin;
  origin.on("/a", cacheable("hello"));
  Client(neighbours.a.port()).get(origin.url("/a"));
  ASSERT_TRUE(neighbours.b_knows(1));
  Client client(neighbours.b.port());
  client.get(origin.url("/a"));
  EXPECT_TRUE(is_hit(client.get(origin.url("/a"))));
  EXPECT_EQ(neighbours.b.digest_peer("a").at("true_hits"), 1);
}

TEST(Peering, AsksAsASiblingMayBeAsked) {
  PeerScene scene({"/a"});
  scene.peer.on("/a", cacheable("from the peer"));
  const Response response =
      scene.client->get(scene.origin.url("/a"), {{"Cookie", "secret"}, {"X-End", "1"}});
  EXPECT_EQ(response.body, "from the peer");
  const Request asked = scene.peer.requests("/a").at(0);
  EXPECT_EQ(asked.target, scene.origin.url("/a"));  // absolute-form
  EXPECT_TRUE(contains(asked.field("Cache-Control"), "only-if-cached"));
  EXPECT_FALSE(asked.has("Cookie"));
  EXPECT_TRUE(asked.has("Via"));
  EXPECT_EQ(asked.field("X-End"), "1");
  EXPECT_EQ(scene.origin.count(), 0U);
}

TEST(Peering, AsksNobodyForWhatNobodyClaims) {
  PeerScene scene({"/a"});
  EXPECT_EQ(scene.client->get(scene.origin.url("/b")).body, "from the origin");
  EXPECT_EQ(scene.peer.count("/b"), 0U);
}

TEST(Peering, AsksNobodyWhatOnlyTheOriginMayAnswer) {
  PeerScene scene({"/a"});
  const std::string url = scene.origin.url("/a");
  scene.client->get(url, {{"Authorization", "Basic bWU6bWU="}});
  scene.client->get(url, {{"Cache-Control", "no-cache"}});
  scene.client->request("POST", url, {}, "body");
  scene.client->get(url, {{"Via", "1.1 " + scene.proxy->address()}});
  EXPECT_EQ(scene.peer.count("/a"), 0U);
}

TEST(Peering, GoesOnToTheOriginAfterAFalseHit) {
  PeerScene scene({"/a"});
  scene.peer.on("/a", Reply(504));
  const Response response = scene.client->get(scene.origin.url("/a"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "from the origin");
  EXPECT_TRUE(contains(response.field("Cache-Status"), "false-hit/b"));
  EXPECT_EQ(scene.books().at("false_hits"), 1);
  EXPECT_EQ(scene.books().at("state"), "usable");  // an honest mistake
  EXPECT_EQ(scene.proxy->logged(scene.origin.url("/a")).hierarchy, "HIER_DIRECT");
}

TEST(Peering, TakesALateNoForASlowAnswer) {
  const std::chrono::milliseconds limit = allowed(std::chrono::seconds(2));
  PeerScene scene({"/a"},
                  {{"timeouts", {{"peer_first_byte", std::to_string(limit.count()) + "ms"}}}});
  scene.peer.on("/a", Reply(504).slow(limit * 6 / 10, 0));
  const Response response = scene.client->get(scene.origin.url("/a"));
  EXPECT_EQ(response.body, "from the origin");
  EXPECT_TRUE(contains(response.field("Cache-Status"), "slow/b")) << response.field("Cache-Status");
}

struct BadAnswer {
  const char* name;
  Reply reply;
};

void PrintTo(const BadAnswer& test, std::ostream* out) {
  *out << test.name;
}

class BadPeer : public testing::TestWithParam<BadAnswer> {};

TEST_P(BadPeer, CostsTheClientNothingAndRests) {
  PeerScene scene({"/a", "/b"}, {{"timeouts", {{"peer_first_byte", "200ms"}}}});
  scene.peer.on("/a", GetParam().reply);
  const auto begun = std::chrono::steady_clock::now();
  const Response response = scene.client->get(scene.origin.url("/a"));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, allowed(std::chrono::seconds(2)));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "from the origin");
  EXPECT_TRUE(response.whole);
  EXPECT_EQ(scene.peer.count("/a"), 1U);
  EXPECT_EQ(scene.books().at("state"), "resting");
  scene.client->get(scene.origin.url("/b"));
  EXPECT_EQ(scene.peer.count("/b"), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Peering, BadPeer,
    testing::Values(
        BadAnswer{"Forbids", Reply(403).body("no")},
        BadAnswer{"FindsNothing", Reply(404).body("no")}, BadAnswer{"Fails", Reply(500).body("no")},
        BadAnswer{"Redirects", Reply(302, {{"Location", "http://evil.test/"}})},
        BadAnswer{"HangsUp", Reply::hang_up()}, BadAnswer{"Stalls", Reply().wait(Gate())},
        BadAnswer{"HoldsBackTheRest",
                  Reply(200, {{"Cache-Control", "max-age=60"}}).sized(1000).send("x").wait(Gate())},
        BadAnswer{"CutsAChunkedBody",
                  Reply(200, {{"Cache-Control", "max-age=60"}}).chunked().send("x").cut()},
        BadAnswer{"SaysItIsProcessing",
                  Reply().interim("HTTP/1.1 102 Processing", {}).wait(Gate())},
        BadAnswer{"Babbles", Reply::raw("220 mail.test ESMTP\r\n")},
        BadAnswer{"TwoLengths", Reply::raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n"
                                           "Content-Length: 2\r\n\r\nxx")},
        BadAnswer{"CutsTheHead", Reply::raw("HTTP/1.1 200 OK\r\nCache-Con")}),
    [](const auto& test) { return test.param.name; });

TEST(Peering, GoesOnWhenTheNeighbourIsGone) {
  ScriptedOrigin origin;
  origin.on("/a", cacheable("from the origin"));
  auto peer = std::make_unique<ScriptedOrigin>();
  peer->on(kDigestPath, digest_reply(digest_claiming({origin.url("/a")})));
  peer->sign_as("b");
  const ProxyProcess proxy(with_peer("b", peer->port()));
  ASSERT_TRUE(await([&] { return proxy.digest_peer("b").at("state") == "usable"; }));
  peer.reset();
  EXPECT_EQ(Client(proxy.port()).get(origin.url("/a")).body, "from the origin");
}

TEST(Peering, ReplacesANeighbourThatDiesInTheMiddle) {
  PeerScene scene({"/a"});
  const std::string body = numbered_bytes(200'000);
  const Fields fields{{"Cache-Control", "max-age=60"}, {"ETag", "\"v1\""}};
  scene.peer.on("/a", Reply(200, fields).sized(body.size()).send(body.substr(0, 70'000)).cut());
  scene.origin.on("/a", [=](const Request& request) {
    const std::string range = request.field("Range");
    if (range.empty()) return Reply(200, fields).body(body);
    const std::size_t from = std::stoul(range.substr(range.find('=') + 1));
    const std::string all = std::to_string(body.size());
    return Reply(206, fields)
        .with("Content-Range",
              "bytes " + std::to_string(from) + "-" + std::to_string(body.size() - 1) + "/" + all)
        .body(body.substr(from));
  });
  const Response response = scene.client->get(scene.origin.url("/a"));
  EXPECT_TRUE(response.whole);
  EXPECT_TRUE(response.body == body);
}

TEST(Peering, NeverJoinsTwoVersionsOfABody) {
  PeerScene scene({"/a"});
  scene.peer.on("/a", Reply(200, {{"Cache-Control", "max-age=60"}, {"ETag", "\"v1\""}})
                          .sized(100'000)
                          .send(std::string(50'000, '1'))
                          .cut());
  scene.origin.on("/a", cacheable(std::string(100'000, '2')).with("ETag", "\"v2\""));
  const Response response = scene.client->get(scene.origin.url("/a"));
  EXPECT_FALSE(response.whole && contains(response.body, "1"));
  Client second(scene.proxy->port());
  EXPECT_EQ(second.get(scene.origin.url("/a")).body, std::string(100'000, '2'));
}

TEST(Peering, AsksOnceForManyClients) {
  PeerScene scene({"/a"});
  Gate gate;
  scene.peer.on(
      "/a",
      Reply(200, {{"Cache-Control", "max-age=60"}}).sized(5).start().wait(gate).send("hello"));
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<Client>(scene.proxy->port()));
    clients.back()->send(request_text("GET", scene.origin.url("/a")));
  }
  ASSERT_TRUE(scene.peer.await_requests("/a", 1));
  gate.open();
  for (auto& client : clients) EXPECT_EQ(client->read().body, "hello");
  EXPECT_EQ(scene.peer.count("/a"), 1U);
}

}  // namespace
}  // namespace scenario
