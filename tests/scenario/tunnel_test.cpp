// CONNECT carries bytes in both directions, to allowed ports only.
#include <gtest/gtest.h>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

struct Tunnel {
  Tunnel() : authority("127.0.0.1:" + std::to_string(origin.port())) {}

  ScriptedOrigin origin;
  std::string authority;
  ProxyProcess proxy{json{{"access", {{"connect_ports", {origin.port()}}}}}};
  Client client{proxy.port()};

  std::string connect() const {
    return "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n";
  }
};

TEST(Tunnels, CarryBytesBothWays) {
  Tunnel tunnel;
  const std::string body = numbered_bytes(3U << 20);
  tunnel.origin.on("/a", Reply().body(body));
  tunnel.client.send(tunnel.connect());
  const Response established = tunnel.client.read("CONNECT");
  EXPECT_EQ(established.status, 200);
  EXPECT_FALSE(established.has("Content-Length"));
  EXPECT_FALSE(established.has("Transfer-Encoding"));
  tunnel.client.send("PUT /a HTTP/1.1\r\nHost: inside\r\nContent-Length: 4\r\n\r\nbody");
  EXPECT_TRUE(tunnel.client.read("PUT").body == body);
  const Request inside = tunnel.origin.requests("/a").at(0);
  EXPECT_EQ(inside.fields.size(), 2U);  // as the client sent them, with none added
  EXPECT_EQ(inside.body, "body");
}

TEST(Tunnels, CarryWhatWasSentTogetherWithTheRequest) {
  Tunnel tunnel;
  tunnel.origin.on("/a", Reply().body("hello"));
  tunnel.client.send(tunnel.connect() + "GET /a HTTP/1.1\r\nHost: inside\r\n\r\n");
  tunnel.client.read("CONNECT");
  EXPECT_EQ(tunnel.client.read().body, "hello");
}

TEST(Tunnels, PassOnTheEndOfEitherSide) {
  Tunnel tunnel;
  tunnel.origin.on("/a", Reply(200, {{"Connection", "close"}}).send("till the end").cut());
  tunnel.client.send(tunnel.connect());
  tunnel.client.read("CONNECT");
  tunnel.client.send("GET /a HTTP/1.1\r\nHost: inside\r\n\r\n");
  tunnel.client.finish_sending();  // half closed: the response still arrives
  EXPECT_EQ(tunnel.client.read().body, "till the end");
  EXPECT_TRUE(tunnel.client.is_closed());
}

TEST(Tunnels, LeadNowhereElse) {
  Tunnel tunnel;
  for (const char* port : {"22", "443", "80", "1"}) {
    Client client(tunnel.proxy.port());
    const std::string elsewhere = "127.0.0.1:" + std::string(port);
    client.send("CONNECT " + elsewhere + " HTTP/1.1\r\nHost: " + elsewhere + "\r\n\r\n");
    // 443 is the default, which the setting replaces
    EXPECT_EQ(client.read().status, 403) << port;
  }
}

TEST(Tunnels, Say502WhereNobodyListens) {
  const ReservedPort nobody;
  const ProxyProcess proxy(json{{"access", {{"connect_ports", {nobody.port()}}}}});
  Client client(proxy.port());
  const std::string authority = "127.0.0.1:" + std::to_string(nobody.port());
  client.send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
  EXPECT_EQ(client.read().status, 502);
}

TEST(Tunnels, AreLoggedWhenTheyEnd) {
  Tunnel tunnel;
  tunnel.client.send(tunnel.connect());
  tunnel.client.read("CONNECT");
  tunnel.client.leave();
  const LogLine line = tunnel.proxy.logged(tunnel.authority);
  EXPECT_EQ(line.result, "TCP_TUNNEL");
  EXPECT_EQ(line.method, "CONNECT");
  EXPECT_EQ(line.hierarchy, "HIER_DIRECT");
}

}  // namespace
}  // namespace scenario
