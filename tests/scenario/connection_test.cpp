// Connections of clients and to origins: kept open, pipelined, retried, in both versions of HTTP/1.
#include <gtest/gtest.h>

#include <thread>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

TEST(Connections, AreKeptForTheNextRequest) {
  Scene scene;
  scene.origin.otherwise([](const Request& request) { return Reply().body(request.path); });
  for (const char* path : {"/1", "/2", "/3"}) {
    EXPECT_EQ(scene.client.get(scene.origin.url(path)).body, path);
  }
  EXPECT_EQ(scene.origin.connections(), 1U);
}

TEST(Connections, AnswerPipelinedRequestsInOrder) {
  Scene scene;
  Gate gate;
  scene.origin.on("/1", Reply().wait(gate).body("first"));
  scene.origin.on("/2", Reply().chunked().send("second"));
  scene.origin.on("/3", Reply().body("third"));
  scene.client.send(request_text("GET", scene.origin.url("/1")) +
                    request_text("POST", scene.origin.url("/2"), {}, "body") +
                    request_text("GET", scene.origin.url("/3")));
  ASSERT_TRUE(scene.origin.await_requests("/1", 1));
  gate.open();
  EXPECT_EQ(scene.client.read().body, "first");
  EXPECT_EQ(scene.client.read().body, "second");
  EXPECT_EQ(scene.client.read().body, "third");
  EXPECT_EQ(scene.origin.requests("/2").at(0).body, "body");
}

TEST(Connections, CloseWhenTheClientAsksForIt) {
  Scene scene;
  scene.origin.on("/a", Reply().body("hello"));
  const Response response = scene.client.get(scene.origin.url("/a"), {{"Connection", "close"}});
  EXPECT_EQ(response.body, "hello");
  EXPECT_TRUE(contains(response.field("Connection"), "close"));
  EXPECT_TRUE(scene.client.is_closed());
}

TEST(Connections, AreNotOfferedToTheOriginAsTheClientAsksForTheirs) {
  Scene scene;
  scene.origin.on("/a", Reply().body("hello"));
  for (int i = 0; i < 2; ++i) {
    Client client(scene.proxy.port());
    client.get(scene.origin.url("/a"), {{"Connection", "close"}});
  }
  EXPECT_FALSE(contains(scene.origin.requests().at(0).field("Connection"), "close"));
}

TEST(Connections, OfHttp10EndWithTheResponse) {
  Scene scene;
  scene.origin.on("/a", Reply().chunked().send("hello ").send("world"));
  scene.client.send("GET " + scene.origin.url("/a") + " HTTP/1.0\r\n\r\n");
  const Response response = scene.client.read();
  EXPECT_EQ(response.body, "hello world");
  EXPECT_FALSE(response.has("Transfer-Encoding"));  // RFC 9112 section 6.1
  EXPECT_TRUE(response.whole);
  EXPECT_EQ(scene.origin.requests().at(0).start_line, "GET /a HTTP/1.1");
  EXPECT_TRUE(contains(scene.origin.requests().at(0).field("Via"), "1.0 "));
}

TEST(Connections, OfHttp10AreKeptOnRequestForSizedBodies) {
  Scene scene;
  scene.origin.on("/a", Reply().body("hello"));
  const std::string request =
      "GET " + scene.origin.url("/a") + " HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
  for (int i = 0; i < 2; ++i) {
    scene.client.send(request);
    const Response response = scene.client.read();
    EXPECT_EQ(response.body, "hello");
    EXPECT_TRUE(contains(response.field("Connection"), "keep-alive"));
  }
}

TEST(Connections, ThatDiedWhileKeptAreReplacedOnce) {
  Scene scene;
  scene.origin.on("/first", Reply().body("first"));
  scene.origin.on("/again", [](const Request& request) {
    return request.on_connection > 0 ? Reply::hang_up() : Reply().body("again");
  });
  EXPECT_EQ(scene.client.get(scene.origin.url("/first")).body, "first");
  const Response response = scene.client.get(scene.origin.url("/again"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "again");
  EXPECT_EQ(scene.origin.count("/again"), 2U);
}

TEST(Connections, ThatDieFreshAreNotTriedAgain) {
  Scene scene;
  scene.origin.on("/a", Reply::hang_up());
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).status, 502);
  EXPECT_EQ(scene.origin.count("/a"), 1U);
}

TEST(Connections, ThatDiedNeverMakeARequestHappenTwice) {  // RFC 9110 section 9.2.2
  Scene scene;
  scene.origin.on("/first", Reply().body("first"));
  scene.origin.on("/order", Reply::hang_up());
  scene.client.get(scene.origin.url("/first"));
  const Response response = scene.client.request("POST", scene.origin.url("/order"), {}, "one");
  EXPECT_EQ(response.status, 502);
  EXPECT_EQ(scene.origin.count("/order"), 1U);
}

TEST(Connections, AreNotKeptWhereTheOriginCloses) {
  Scene scene;
  scene.origin.on("/a", Reply(200, {{"Connection", "close"}}).sized(5).send("hello").cut());
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).body, "hello");
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).body, "hello");
  EXPECT_EQ(scene.origin.count("/a"), 2U);
}

// After half a second without a request, a connection keeps no buffer for the next one.
constexpr std::chrono::milliseconds kLong{900};

TEST(Connections, ServeTheNextRequestAfterALongPause) {
  Scene scene;
  scene.origin.on("/a", cacheable("hello"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(scene.client.get(scene.origin.url("/a")).body, "hello");
    std::this_thread::sleep_for(kLong);  // the pause is what is tested
  }
}

TEST(Connections, EndWithTheProxyAfterALongPause) {
  Scene scene;
  scene.origin.on("/a", cacheable("hello"));
  scene.client.get(scene.origin.url("/a"));
  std::this_thread::sleep_for(kLong);  // the pause is what is tested
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(scene.proxy.terminate(), 0);
  EXPECT_TRUE(scene.client.is_closed());
  EXPECT_LT(std::chrono::steady_clock::now() - begun, kSlowdown * std::chrono::seconds(5));
}

TEST(Connections, EndAfterTheTimeForPauses) {
  Scene scene(json{{"timeouts", {{"keep_alive", "1200ms"}}}});
  scene.origin.on("/a", cacheable("hello"));
  scene.client.get(scene.origin.url("/a"));
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_TRUE(scene.client.is_closed());
  const auto after = std::chrono::steady_clock::now() - begun;
  EXPECT_GT(after, std::chrono::milliseconds(1100));
  EXPECT_LT(after, kSlowdown * std::chrono::milliseconds(2200));
}

TEST(Connections, OfTwoClientsDoNotWaitForEachOther) {
  Scene scene;
  Gate gate;
  scene.origin.on("/slow", Reply().wait(gate).body("slow"));
  scene.origin.on("/quick", Reply().body("quick"));
  scene.client.send(request_text("GET", scene.origin.url("/slow")));
  ASSERT_TRUE(scene.origin.await_requests("/slow", 1));
  Client other(scene.proxy.port());
  EXPECT_EQ(other.get(scene.origin.url("/quick")).body, "quick");
  gate.open();
  EXPECT_EQ(scene.client.read().body, "slow");
}

}  // namespace
}  // namespace scenario
