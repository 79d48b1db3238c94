// The proxy reads an unneeded request body to its end, or closes the connection. It never takes the
// body for a request, nor the bytes after a body that it did not read (RFC 9112 section 9.3).
#include <gtest/gtest.h>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

const std::string kTrap = "GET /trap HTTP/1.1\r\nHost: a\r\n\r\n";  // as a body

struct Stored : Scene {
  Stored() {
    origin.on("/a", cacheable("hello"));
    client.get(origin.url("/a"));
  }
  // A GET with a body, followed by another request.
  std::string with_body(const std::string& fields, const std::string& body) const {
    return "GET " + origin.url("/a") + " HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n" + body +
           request_text("GET", origin.url("/next"));
  }
  void expect_no_trap() const {
    EXPECT_EQ(origin.count("/trap"), 0U);
    for (const Request& request : origin.requests()) EXPECT_TRUE(request.whole);
  }
};

TEST(UnreadBody, OfAGetThatIsStoredGoesWithItToTheOrigin) {
  for (const bool chunked : {false, true}) {
    Stored scene;
    scene.client.send(
        chunked
            ? scene.with_body("Transfer-Encoding: chunked\r\n", chunk(kTrap) + "0\r\n\r\n")
            : scene.with_body("Content-Length: " + std::to_string(kTrap.size()) + "\r\n", kTrap));
    EXPECT_EQ(scene.client.read().body, "hello");
    EXPECT_EQ(scene.origin.requests("/a").at(1).body, kTrap);
    EXPECT_EQ(scene.client.read().status, 404);  // the response to /next
    EXPECT_EQ(scene.origin.count("/next"), 1U);
    scene.expect_no_trap();
  }
}

TEST(UnreadBody, OfARefusedRequestEndsTheConnection) {
  for (const std::string& fields :
       {"Content-Length: " + std::to_string(kTrap.size()) + "\r\n",
        std::string("Transfer-Encoding: chunked\r\n"), std::string("Content-Length: 900000\r\n")}) {
    Stored scene;
    const std::string body = contains(fields, "chunked") ? chunk(kTrap) + "0\r\n\r\n" : kTrap;
    scene.client.send(scene.with_body("Cache-Control: only-if-cached\r\n" + fields, body));
    const Response response = scene.client.read();
    EXPECT_EQ(response.status, 504) << fields;
    EXPECT_EQ(response.field("Connection"), "close");
    EXPECT_TRUE(scene.client.is_closed());
    EXPECT_EQ(scene.origin.count("/next"), 0U);
    scene.expect_no_trap();
  }
}

TEST(UnreadBody, OfARequestForAPageOfOursEndsTheConnection) {
  const ProxyProcess proxy;
  Client client(proxy.port());
  client.send("GET /health HTTP/1.1\r\nHost: " + proxy.address() +
              "\r\nContent-Length: 10\r\n\r\nGET /metriGET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.read().status, 200);
  EXPECT_TRUE(client.is_closed());
}

// The body is longer than the proxy drains. The client receives the response all the same.
TEST(UnreadBody, OfAnyLengthDoesNotCostTheAnswer) {
  Stored scene;
  scene.client.send(scene.with_body("Cache-Control: only-if-cached\r\nContent-Length: 2000000\r\n",
                                    numbered_bytes(200'000)));
  EXPECT_EQ(scene.client.read().status, 504);
  EXPECT_EQ(scene.origin.count("/next"), 0U);
}

TEST(UnreadBody, OfAnUploadThatTheOriginRefusesEndsTheConnection) {
  Scene scene;
  scene.origin.on_head("/a", Reply(413, {{"Connection", "close"}}).body("no").cut());
  scene.client.send("PUT " + scene.origin.url("/a") +
                    " HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n");
  EXPECT_EQ(scene.client.read("PUT").status, 413);
  scene.client.send(request_text("GET", scene.origin.url("/next")));
  EXPECT_TRUE(scene.client.is_closed());
  EXPECT_EQ(scene.origin.count("/next"), 0U);
}

}  // namespace
}  // namespace scenario
