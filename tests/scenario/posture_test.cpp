// What the proxy refuses by default, and to which clients.
#include <gtest/gtest.h>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

json access(const json& values) {
  return {{"access", values}};
}

TEST(Posture, KeepsClientsFromThisMachineByDefault) {
  Scene scene(access({{"deny_to", nullptr}}));
  const std::string port = ":" + std::to_string(scene.origin.port()) + "/a";
  for (const char* host : {"127.0.0.1", "127.0.0.2", "127.1", "2130706433", "0x7f.1", "0.0.0.0",
                           "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "localhost",
                           "LOCALHOST", "localhost.", "a.localhost", "169.254.169.254"}) {
    Client client(scene.proxy.port());
    const int status = client.get("http://" + (host + port)).status;
    EXPECT_TRUE(status == 403 || status == 400) << host << ": " << status;
  }
  EXPECT_EQ(scene.origin.connections(), 0U);
}

TEST(Posture, KeepsTunnelsFromThisMachineByDefault) {
  ScriptedOrigin origin;
  const ProxyProcess proxy(access({{"deny_to", nullptr}, {"connect_ports", {origin.port()}}}));
  for (const char* host : {"127.0.0.1", "localhost", "[::1]"}) {
    Client client(proxy.port());
    const std::string authority = host + (":" + std::to_string(origin.port()));
    client.send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
    EXPECT_EQ(client.read().status, 403) << authority;
  }
  EXPECT_EQ(origin.connections(), 0U);
}

TEST(Posture, NeverConnectsToItself) {
  Listener listener;
  const ProxyProcess proxy(access({{"connect_ports", {listener.port()}}}), listener);
  for (const char* host : {"127.0.0.1", "localhost"}) {
    Client client(proxy.port());
    const std::string authority = host + (":" + std::to_string(proxy.port()));
    client.send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
    EXPECT_EQ(client.read().status, 403) << authority;
  }
}

TEST(Posture, AsksAConfiguredPeerOnADeniedAddress) {
  PeerScene scene({"/a"});
  ScriptedOrigin peer;
  const std::string url = "http://origin.test/a";
  peer.on(kDigestPath, digest_reply(digest_claiming({url})));
  peer.on("/a", cacheable("from the peer"));
  const ProxyProcess proxy(with_peer("b", peer.port(), access({{"deny_to", {"loopback"}}})));
  ASSERT_TRUE(await([&] { return proxy.digest_peer("b").at("state") == "usable"; }));
  EXPECT_EQ(Client(proxy.port()).get(url).body, "from the peer");
  EXPECT_EQ(
      Client(proxy.port()).get("http://127.0.0.1:" + std::to_string(peer.port()) + "/a").status,
      403);
}

TEST(Posture, RefusesClientsThatAreNotListed) {
  Scene scene(access({{"clients", {"192.0.2.0/24"}}}));
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).status, 403);
  EXPECT_EQ(scene.origin.count(), 0U);
}

TEST(Posture, RefusesDigestsAndMonitoringToOthers) {
  const ProxyProcess proxy(access({{"monitor", {"192.0.2.1"}}, {"admin", {"192.0.2.1"}}}));
  for (const char* path : {"/digest", "/metrics", "/health", kDigestPath}) {
    EXPECT_EQ(proxy.page(path).status, 403) << path;
  }
}

TEST(Posture, ShowsDigestsToPeersThatWeDoNotAsk) {
  const ProxyProcess proxy(
      access({{"monitor", {"192.0.2.1"}}, {"admin", {"192.0.2.1"}}, {"peers", {"127.0.0.1"}}}));
  EXPECT_EQ(proxy.page(kDigestPath).status, 200);
  EXPECT_EQ(proxy.page("/digest").status, 403);
}

TEST(Posture, KeepsItsOwnPagesFromBeingReadThroughANeighbour) {
  const ProxyProcess proxy;
  for (const char* path : {"/digest", "/metrics", "/health"}) {
    for (const Field& field : {Field{"Via", "1.1 other"}, Field{"X-Forwarded-For", "10.0.0.9"},
                               Field{"Forwarded", "for=10.0.0.9"}}) {
      const int status = proxy.page(path, {field}).status;
      EXPECT_EQ(status, 403) << path << ' ' << field.first;
    }
    Client client(proxy.port());
    client.send("GET " + std::string(path) + " HTTP/1.1\r\nHost: evil.test\r\n\r\n");
    const int status = client.read().status;
    EXPECT_TRUE(status >= 400 && status < 500) << path << ": " << status;  // DNS rebinding
  }
}

TEST(Posture, LimitsHeads) {
  Scene scene(json{{"limits", {{"head", "4KiB"}, {"fields", 20}}}});
  Fields many;
  for (int i = 0; i < 30; ++i) many.emplace_back("X-" + std::to_string(i), "1");
  const std::string too_large[] = {
      request_text("GET", scene.origin.url("/a"), {{"X", std::string(5000, 'x')}}),
      request_text("GET", scene.origin.url("/a"), many),
      "GET " + scene.origin.url("/") + std::string(5000, 'x'),  // no end in sight
  };
  for (const std::string& request : too_large) {
    Client client(scene.proxy.port());
    client.send(request);
    EXPECT_EQ(client.read().status, 431) << request.substr(0, 60);
    EXPECT_TRUE(client.is_closed());
  }
  EXPECT_EQ(scene.origin.count(), 0U);
}

TEST(Posture, LimitsHeadsOfResponses) {
  Scene scene(json{{"limits", {{"head", "4KiB"}}}});
  scene.origin.on("/a", Reply(200, {{"X", std::string(5000, 'x')}}).body("hello"));
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).status, 502);
}

}  // namespace
}  // namespace scenario
