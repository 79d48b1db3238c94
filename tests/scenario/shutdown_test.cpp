// SIGTERM and SIGINT: the proxy takes no new work, finishes what runs within a limit, and exits 0.
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

// A connection that began just before the drain is closed unanswered.
bool says_that_it_drains(const ProxyProcess& proxy) {
  try {
    return proxy.page("/health").status == 503;
  } catch (const std::runtime_error&) {
    return false;
  }
}

TEST(Shutdown, EndsAtOnceWhenNothingRuns) {
  for (const int signal : {SIGTERM, SIGINT}) {
    Scene scene;
    scene.origin.on("/a", Reply().body("hello"));
    scene.client.get(scene.origin.url("/a"));  // the client stays connected
    scene.proxy.process().signal(signal);
    EXPECT_EQ(scene.proxy.process().wait(std::chrono::seconds(3)), 0);
  }
}

TEST(Shutdown, FinishesWhatRunsAndTakesNothingNew) {
  Scene scene;
  Gate gate;
  scene.origin.on("/a", Reply().sized(11).send("hello ").wait(gate).send("world"));
  scene.client.send(request_text("GET", scene.origin.url("/a")));
  Response response = scene.client.read_head();
  scene.proxy.process().signal(SIGTERM);
  EXPECT_TRUE(await([&] { return says_that_it_drains(scene.proxy); }));
  EXPECT_EQ(json::parse(scene.proxy.page("/health").body).at("status"), "draining");
  Client late(scene.proxy.port());
  const Response refused = late.get(scene.origin.url("/b"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_TRUE(contains(nearest_cache_status(refused), "draining"));
  EXPECT_TRUE(late.is_closed());
  EXPECT_EQ(scene.origin.count("/b"), 0U);
  gate.open();
  scene.client.read_rest(response);
  EXPECT_EQ(response.body, "hello world");
  EXPECT_TRUE(scene.client.is_closed());
  EXPECT_EQ(scene.proxy.process().wait(), 0);
}

TEST(Shutdown, DoesNotWaitForThoseThatComeLate) {
  Scene scene;
  Gate gate;
  scene.origin.on("/a", Reply().sized(11).send("hello ").wait(gate).send("world"));
  scene.client.send(request_text("GET", scene.origin.url("/a")));
  Response response = scene.client.read_head();
  scene.proxy.process().signal(SIGTERM);
  EXPECT_TRUE(await([&] { return says_that_it_drains(scene.proxy); }));
  const Client silent(scene.proxy.port());
  gate.open();
  scene.client.read_rest(response);
  EXPECT_EQ(scene.proxy.process().wait(std::chrono::seconds(3)), 0);
}

TEST(Shutdown, IsSaidAsItBeginsAndAsItEnds) {
  Scene scene;
  EXPECT_EQ(scene.proxy.terminate(), 0);
  const std::string said = scene.proxy.process().errors();
  EXPECT_TRUE(contains(said, "SIGTERM: draining: ")) << said;
  EXPECT_TRUE(contains(said, "stopped")) << said;
}

TEST(Shutdown, DoesNotWaitBeyondItsLimit) {
  Scene scene(json{{"timeouts", {{"drain", "300ms"}}}});
  scene.origin.on("/a", Reply().sized(11).send("hello ").wait(Gate()));
  scene.client.send(request_text("GET", scene.origin.url("/a")));
  Response response = scene.client.read_head();
  scene.proxy.process().signal(SIGTERM);
  EXPECT_EQ(scene.proxy.process().wait(std::chrono::seconds(5)), 0);
  scene.client.read_rest(response);
  EXPECT_FALSE(response.whole);
}

TEST(Shutdown, WritesTheLogToItsEnd) {
  Scene scene;
  scene.origin.on("/a", Reply().body("hello"));
  scene.client.get(scene.origin.url("/a"));
  EXPECT_EQ(scene.proxy.terminate(), 0);
  EXPECT_EQ(scene.proxy.access_log().size(), 1U);
}

TEST(Shutdown, EndsWithItsPeersSilent) {
  const Listener silent;  // accepts and never answers
  ProxyProcess proxy(with_peer("b", silent.port()));
  EXPECT_EQ(proxy.terminate(std::chrono::seconds(3)), 0);
}

// The client has ended its side, so the direction to the server is done and waits for the other
// one. The client reads nothing, so the direction to the client waits for room.
TEST(Shutdown, EndsATunnelWhoseClientDoesNotRead) {
  ScriptedOrigin origin;
  origin.on("/a", Reply().body(std::string(64 << 20, 'x')));
  ProxyProcess proxy(
      json{{"access", {{"connect_ports", {origin.port()}}}}, {"timeouts", {{"drain", "300ms"}}}});
  Client client(proxy.port());
  const auto authority = "127.0.0.1:" + std::to_string(origin.port());
  client.send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
  client.read("CONNECT");
  client.send("GET /a HTTP/1.1\r\nHost: inside\r\n\r\n");
  client.finish_sending();
  EXPECT_TRUE(await([&] { return origin.count("/a") == 1; }));
  proxy.process().signal(SIGTERM);
  EXPECT_EQ(proxy.process().wait(), 0);
}

}  // namespace
}  // namespace scenario
