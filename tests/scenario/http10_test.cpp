// Peers that speak HTTP/1.0 (RFC 9112 sections 6.1, 9.3; RFC 9110 section 2.5).
#include <gtest/gtest.h>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

std::string get10(const std::string& url, const std::string& fields = "") {
  return "GET " + url + " HTTP/1.0\r\n" + fields + "\r\n";
}

TEST(Http10Client, GetsABodyOfUnknownLengthUntilTheClose) {
  Scene scene;
  const std::string body = numbered_bytes(100'000);
  scene.origin.on("/a", Reply().chunked().send(body));
  scene.client.send(get10(scene.origin.url("/a"), "Connection: keep-alive\r\n"));
  const Response response = scene.client.read();
  EXPECT_EQ(response.status, 200);
  EXPECT_FALSE(response.has("Transfer-Encoding"));
  EXPECT_FALSE(response.has("Content-Length"));
  EXPECT_EQ(response.field("Connection"), "close");  // though the client asked for keep-alive
  EXPECT_TRUE(response.body == body);
  EXPECT_TRUE(scene.client.is_closed());
}

TEST(Http10Client, SeesThatABodyOfUnknownLengthWasCut) {
  Scene scene;
  scene.origin.on("/a", Reply().chunked().send("half").cut());
  scene.client.send(get10(scene.origin.url("/a")));
  const Response response = scene.client.read();
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_FALSE(response.whole);  // the proxy resets the connection
}

TEST(Http10Client, GetsNoInterimResponses) {
  Scene scene;
  scene.origin.on("/a", Reply().interim("HTTP/1.1 103 Early Hints", {{"Link", "</b>"}}).body("a"));
  scene.client.send(get10(scene.origin.url("/a")));
  EXPECT_EQ(scene.client.read().body, "a");
  EXPECT_TRUE(scene.client.interim().empty());
}

TEST(Http10Client, IsRefusedWithATransferEncoding) {
  Scene scene;
  scene.client.send("POST " + scene.origin.url("/a") +
                    " HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
  EXPECT_EQ(scene.client.read().status, 400);
  EXPECT_EQ(scene.origin.connections(), 0U);
}

TEST(Http10Client, SendsABodyOfStatedLength) {
  Scene scene;
  scene.client.send("POST " + scene.origin.url("/a") +
                    " HTTP/1.0\r\nContent-Length: 4\r\n\r\nbody");
  scene.client.read();
  EXPECT_EQ(scene.origin.requests("/a").at(0).body, "body");
  EXPECT_TRUE(scene.client.is_closed());
}

TEST(Http10Origin, LastsUntilTheClose) {
  Scene scene;
  scene.origin.on("/a", Reply::raw("HTTP/1.0 200 OK\r\nCache-Control: max-age=60\r\n\r\nhello"));
  const Response response = scene.client.get(scene.origin.url("/a"));
  EXPECT_EQ(response.version(), "HTTP/1.1");
  EXPECT_TRUE(response.field("Via").starts_with("1.0 "));
  EXPECT_EQ(response.body, "hello");
  EXPECT_TRUE(response.whole);
}

TEST(Http10Origin, KeepsItsConnectionOnlyWhereItSaysSo) {
  for (const bool keeps : {false, true}) {
    Scene scene;
    const std::string fields = keeps ? "Connection: keep-alive\r\n" : "";
    Listener origin;
    const std::string url = "http://127.0.0.1:" + std::to_string(origin.port());
    scene.client.send(request_text("GET", url + "/a"));
    Socket first = std::move(*origin.accept());
    first.read_some();
    first.write("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n" + fields + "\r\na");
    EXPECT_EQ(scene.client.read().body, "a");
    scene.client.send(request_text("GET", url + "/b"));
    std::string request;
    if (keeps) {
      request = first.read_some();
    } else {
      EXPECT_TRUE(first.read_some().empty());  // closed; the proxy opens another
      request = origin.accept()->read_some();
    }
    EXPECT_TRUE(request.starts_with("GET /b ")) << request;
  }
}

TEST(Http10Origin, HasNoTransferEncoding) {
  Scene scene;
  scene.origin.on("/a", Reply::raw("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                   "1\r\na\r\n0\r\n\r\n"));
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).status, 502);
}

}  // namespace
}  // namespace scenario
