// A connection becomes a WebSocket after a 101 that the client asked for, and not a byte before
// (RFC 9110 section 7.8, RFC 6455).
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

const std::string kSwitch =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
const Fields kUpgrade{{"Connection", "Upgrade, X-Mine"},
                      {"Upgrade", "h2c, websocket"},
                      {"X-Mine", "1"},
                      {"Sec-WebSocket-Version", "13"},
                      {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}};

// A client, a proxy, and an origin whose bytes the test reads and writes itself.
struct Stage {
  std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(origin.port()) + path;
  }
  // Accepts the proxy's next connection, and returns the bytes up to the end of a head.
  std::string accept() {
    server.emplace(*origin.accept());
    return next_head();
  }
  std::string next_head() {
    std::string bytes = server->read_some();
    while (!bytes.ends_with("\r\n\r\n")) bytes += server->read_some();
    return bytes;
  }
  std::string received(std::size_t count) {
    std::string bytes;
    while (bytes.size() < count) {
      const std::string piece = server->read_some();
      if (piece.empty()) break;
      bytes += piece;
    }
    return bytes;
  }

  Listener origin;
  ProxyProcess proxy{json{{"name", "cache-a"}}};
  Client client{proxy.port()};
  std::optional<Socket> server;
};

// curl and node write so to a proxy.
TEST(WebSocket, MayBeAskedForByItsOwnScheme) {
  Stage stage;
  std::string url = stage.url("/chat");
  stage.client.send(request_text("GET", url.replace(0, 4, "ws"), kUpgrade));
  const std::string head = stage.accept();
  EXPECT_TRUE(head.starts_with("GET /chat HTTP/1.1\r\n")) << head;
  EXPECT_TRUE(contains(head, "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n")) << head;
  // A server that states a body in its 101 sends none (RFC 9112 6.3).
  std::string answer = kSwitch;
  stage.server->write(answer.insert(answer.find("Sec-"), "Content-Length: 5\r\n") + "first");
  const Response switched = stage.client.read_interim();
  EXPECT_EQ(switched.status, 101);
  EXPECT_FALSE(switched.has("Content-Length"));
  EXPECT_EQ(stage.client.read_bytes(5), "first");
  stage.client.send("second");
  EXPECT_EQ(stage.received(6), "second");
  stage.server.reset();
  stage.client.leave();
  EXPECT_EQ(stage.proxy.logged(stage.url("/chat")).result, "TCP_TUNNEL");
}

TEST(WebSocket, CarriesBytesBothWaysAfterThe101) {
  Stage stage;
  stage.client.send(request_text("GET", stage.url("/chat"), kUpgrade) + "early");
  const std::string head = stage.accept();
  EXPECT_TRUE(head.starts_with("GET /chat HTTP/1.1\r\n")) << head;
  EXPECT_TRUE(contains(head, "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n")) << head;
  EXPECT_TRUE(contains(head, "\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")) << head;
  EXPECT_FALSE(contains(head, "h2c") || contains(head, "X-Mine")) << head;
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;  // without the bytes after it
  stage.server->write(kSwitch + "first");
  const Response answer = stage.client.read_interim();
  EXPECT_EQ(answer.status, 101);
  EXPECT_EQ(answer.field("Connection"), "Upgrade");
  EXPECT_EQ(answer.field("Upgrade"), "websocket");
  EXPECT_TRUE(answer.has("Sec-WebSocket-Accept"));
  EXPECT_EQ(nearest_cache_status(answer),
            "cache-a; fwd=bypass; fwd-status=101; detail=\"not-stored/for-origin\"");
  EXPECT_EQ(stage.client.read_bytes(5), "first");
  EXPECT_EQ(stage.received(5), "early");
  const std::string bytes = numbered_bytes(100'000);
  stage.client.send(bytes);
  EXPECT_TRUE(stage.received(bytes.size()) == bytes);
  stage.server->write(bytes);
  stage.server->finish_writing();
  EXPECT_TRUE(stage.client.read_bytes(bytes.size()) == bytes);
  EXPECT_TRUE(stage.client.is_closed());
  stage.client.leave();
  const LogLine line = stage.proxy.logged(stage.url("/chat"));
  EXPECT_EQ(line.result, "TCP_TUNNEL");
  EXPECT_EQ(line.status, 101);
  EXPECT_GT(line.bytes, 100'000);
}

TEST(WebSocket, OfAnyOtherAnswerIsAnOrdinaryExchange) {
  Stage stage;
  stage.client.send(request_text("GET", stage.url("/chat"), kUpgrade) +
                    request_text("GET", stage.url("/next")));
  stage.accept();
  stage.server->write("HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\n\r\nno");
  EXPECT_EQ(stage.client.read().body, "no");
  const std::string next = stage.next_head();  // an ordinary request
  EXPECT_TRUE(next.starts_with("GET /next HTTP/1.1\r\n")) << next;
  EXPECT_TRUE(contains(next, "Via: 1.1 cache-a"));
  stage.server->write("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes");
  EXPECT_EQ(stage.client.read().body, "yes");
}

TEST(WebSocket, IsNotBegunByA101ThatDoesNotNameIt) {
  const std::string answers[] = {
      "HTTP/1.1 101 Switching Protocols\r\n\r\n",
      "HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
      "HTTP/1.1 101 X\r\nUpgrade: websocket\r\n\r\n",
  };
  for (const std::string& answer : answers) {
    Stage stage;
    stage.client.send(request_text("GET", stage.url("/chat"), kUpgrade));
    stage.accept();
    stage.server->write(answer);
    EXPECT_EQ(stage.client.read().status, 502) << answer;
  }
}

TEST(WebSocket, IsNotBegunWhereNobodyAskedForIt) {
  const std::pair<std::string, Fields> requests[] = {
      {"GET", {}},
      {"GET", {{"Connection", "Upgrade, HTTP2-Settings"}, {"Upgrade", "h2c"}}},
      {"GET", {{"Upgrade", "websocket"}}},
      {"POST", kUpgrade},
  };
  for (const auto& [method, fields] : requests) {
    Stage stage;
    stage.client.send(request_text(method, stage.url("/chat"), fields));
    const std::string head = stage.accept();
    EXPECT_FALSE(contains(head, "\r\nUpgrade") || contains(head, "\r\nConnection")) << head;
    stage.server->write(kSwitch);
    EXPECT_EQ(stage.client.read().status, 502) << method;
  }
}

TEST(WebSocket, IsNothingForHttp10) {
  Stage stage;
  stage.client.send("GET " + stage.url("/chat") +
                    " HTTP/1.0\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  EXPECT_FALSE(contains(stage.accept(), "Upgrade"));
  stage.server->write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno");
  EXPECT_EQ(stage.client.read().body, "no");
}

TEST(WebSocket, IsNotAnsweredFromTheStore) {
  Stage stage;
  const std::string stored =
      "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\n\r\nno";
  stage.client.send(request_text("GET", stage.url("/chat")));
  stage.accept();
  stage.server->write(stored);
  EXPECT_EQ(stage.client.read().body, "no");
  stage.client.send(request_text("GET", stage.url("/chat"), kUpgrade));
  stage.next_head();
  stage.server->write(kSwitch);
  EXPECT_EQ(stage.client.read_interim().status, 101);
}

TEST(WebSocket, EndsWhenNothingMoves) {
  Listener origin;
  const ProxyProcess proxy(json{
      {"timeouts", {{"body", "200ms"}}},
      {"reverse", {{{"host", "*"}, {"to", "http://127.0.0.1:" + std::to_string(origin.port())}}}}});
  Client client(proxy.port());
  client.send(origin_form_text("a.test", "GET", "/chat", kUpgrade));
  Socket server = std::move(*origin.accept());
  server.read_some();
  server.write(kSwitch);
  EXPECT_EQ(client.read_interim().status, 101);
  EXPECT_TRUE(client.is_closed());
  EXPECT_TRUE(server.read_some().empty());
}

TEST(WebSocket, EndsWithTheProgramWithinItsLimit) {
  Listener origin;
  ProxyProcess proxy(json{{"timeouts", {{"drain", "200ms"}}}});
  Client client(proxy.port());
  client.send(
      request_text("GET", "http://127.0.0.1:" + std::to_string(origin.port()) + "/chat", kUpgrade));
  Socket server = std::move(*origin.accept());
  server.read_some();
  server.write(kSwitch);
  EXPECT_EQ(client.read_interim().status, 101);
  EXPECT_EQ(proxy.terminate(std::chrono::seconds(3)), 0);
  EXPECT_TRUE(client.is_closed());
}

}  // namespace
}  // namespace scenario
