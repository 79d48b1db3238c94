// Max-Forwards limits how far OPTIONS and TRACE go (RFC 9110 sections 7.6.2, 9.3.8).
#include <gtest/gtest.h>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

TEST(MaxForwards, OfZeroIsAnsweredByTheProxy) {
  Scene scene;
  const Response options =
      scene.client.request("OPTIONS", scene.origin.url("/a"), {{"Max-Forwards", "0"}});
  EXPECT_EQ(options.status, 200);
  EXPECT_TRUE(contains(options.field("Allow"), "OPTIONS"));
  EXPECT_EQ(options.field("Content-Length"), "0");
  const Response trace = scene.client.request(
      "TRACE", scene.origin.url("/a"),
      {{"Max-Forwards", "0"}, {"Cookie", "a=secret"}, {"Authorization", "secret"}, {"X-A", "b"}});
  EXPECT_EQ(trace.status, 200);
  EXPECT_EQ(trace.field("Content-Type"), "message/http");
  EXPECT_EQ(trace.field("Cache-Control"), "no-store");
  EXPECT_TRUE(trace.body.starts_with("TRACE " + scene.origin.url("/a") + " HTTP/1.1\r\n"));
  EXPECT_TRUE(contains(trace.body, "X-A: b\r\n"));
  EXPECT_FALSE(contains(trace.body, "secret")) << trace.body;
  EXPECT_EQ(scene.origin.connections(), 0U);
}

TEST(MaxForwards, IsOneLessAtTheOrigin) {
  Scene scene;
  scene.origin.otherwise([](const Request&) { return Reply().body("ok"); });
  for (const char* method : {"OPTIONS", "TRACE"}) {
    const std::string path = std::string("/") + method;
    scene.client.request(method, scene.origin.url(path), {{"Max-Forwards", "5"}});
    EXPECT_EQ(scene.origin.requests(path).at(0).field("Max-Forwards"), "4") << method;
    scene.client.request(method, scene.origin.url(path + "/none"));
    EXPECT_FALSE(scene.origin.requests(path + "/none").at(0).has("Max-Forwards")) << method;
  }
  scene.client.get(scene.origin.url("/get"), {{"Max-Forwards", "0"}});
  EXPECT_EQ(scene.origin.requests("/get").at(0).field("Max-Forwards"), "0");
}

TEST(MaxForwards, EndsAtTheGatewayToo) {
  const ScriptedOrigin origin;
  const ProxyProcess proxy(json{{"reverse", {{{"host", "a.test"}, {"to", origin.url("")}}}}});
  Client client(proxy.port());
  client.send(head_text("OPTIONS * HTTP/1.1", {{"Host", "a.test"}, {"Max-Forwards", "0"}}));
  EXPECT_EQ(client.read("OPTIONS").status, 200);
  EXPECT_EQ(origin.connections(), 0U);
  client.send(head_text("OPTIONS * HTTP/1.1", {{"Host", "a.test"}, {"Max-Forwards", "1"}}));
  client.read("OPTIONS");
  EXPECT_EQ(origin.requests().at(0).start_line, "OPTIONS * HTTP/1.1");
  EXPECT_EQ(origin.requests().at(0).field("Max-Forwards"), "0");
}

TEST(Trace, TakesNoCredentialsToAnOrigin) {
  Scene scene;
  const Response response =
      scene.client.request("TRACE", scene.origin.url("/a"), {{"Cookie", "a=secret"}});
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(scene.origin.connections(), 0U);
}

TEST(Trace, IsNothingForOurOwnPages) {
  const ProxyProcess proxy;
  Client client(proxy.port());
  client.send(head_text("TRACE /digest HTTP/1.1", {{"Host", proxy.address()}}));
  const Response response = client.read("TRACE");
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(response.field("Allow"), "GET, HEAD, OPTIONS");
}

}  // namespace
}  // namespace scenario
