// CONNECT through a parent.
#include <gtest/gtest.h>

#include "tests/scenario/peers/parent_scene.hpp"

namespace scenario {
namespace {

// An origin, a Hearsay as the parent, and a proxy.
struct TunnelScene {
  explicit TunnelScene(bool parent_may = true, json settings = json::object())
      : parent(json{{"access", {{"connect_ports", {parent_may ? origin.port() : 1}}}}}),
        proxy(with_access(with_parent("p", parent.port(), std::move(settings)))),
        client(proxy.port()) {
    origin.on("/a", Reply().body("hello"));
  }

  json with_access(json settings) const {
    settings["access"]["connect_ports"] = {origin.port()};
    return settings;
  }
  std::string authority() const { return "127.0.0.1:" + std::to_string(origin.port()); }
  Response connect() {
    client.send("CONNECT " + authority() + " HTTP/1.1\r\nHost: " + authority() + "\r\n\r\n");
    return client.read("CONNECT");
  }
  std::string get_inside() {
    client.send("GET /a HTTP/1.1\r\nHost: inside\r\n\r\n");
    return client.read().body;
  }

  ScriptedOrigin origin;
  ProxyProcess parent;
  ProxyProcess proxy;
  Client client;
};

TEST(ParentTunnel, CarriesBytesThroughTheParent) {
  TunnelScene scene;
  const Response established = scene.connect();
  EXPECT_EQ(established.status, 200);
  EXPECT_TRUE(contains(established.field("Cache-Status"), "parent/p"))
      << established.field("Cache-Status");
  EXPECT_EQ(scene.get_inside(), "hello");
  scene.client.leave();
  EXPECT_EQ(scene.proxy.logged(scene.authority()).hierarchy, "CARP");
  EXPECT_EQ(scene.parent.logged(scene.authority()).result, "TCP_TUNNEL");
}

TEST(ParentTunnel, IsRefusedAsTheParentRefusesIt) {
  TunnelScene scene(false);
  EXPECT_EQ(scene.connect().status, 403);
  EXPECT_EQ(scene.origin.connections(), 0U);
}

TEST(ParentTunnel, LeadsToTheHostItselfIfTheParentIsDown) {
  TunnelScene scene;
  scene.parent.process().signal(SIGKILL);
  scene.parent.process().wait();
  EXPECT_EQ(scene.connect().status, 200);
  EXPECT_EQ(scene.get_inside(), "hello");
}

TEST(ParentTunnel, LeadsToTheHostItselfIfTheParentIsSilentAndTheParentRests) {
  ScriptedOrigin origin;
  ScriptedOrigin parent;
  parent.otherwise([](const Request&) { return Reply().wait(Gate()); });
  json settings = with_parent("p", parent.port());
  settings["access"]["connect_ports"] = {origin.port()};
  const ProxyProcess proxy(settings);
  const auto authority = "127.0.0.1:" + std::to_string(origin.port());
  for (int i = 0; i < 2; ++i) {
    Client client(proxy.port());
    client.send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
    EXPECT_EQ(client.read("CONNECT").status, 200);
  }
  EXPECT_EQ(parent.connections(), 1U) << "the second request finds it at rest";
  EXPECT_EQ(proxy.digest_peer("p").at("forwarding").at("state"), "resting");
}

TEST(ParentTunnel, FailsIfTheParentIsDownAndTheHostMayNotBeAsked) {
  TunnelScene scene(true, {{"never_direct", "all"}});
  scene.parent.process().signal(SIGKILL);
  scene.parent.process().wait();
  EXPECT_EQ(scene.connect().status, 502);
  EXPECT_EQ(scene.origin.connections(), 0U);
}

}  // namespace
}  // namespace scenario
