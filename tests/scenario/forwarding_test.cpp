// The duties of a proxy to client and origin (RFC 9110 section 7, RFC 9112).
#include <gtest/gtest.h>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

TEST(Forwarding, RelaysARequestAndItsResponse) {
  Scene scene;
  scene.origin.on("/a?b=%20", Reply(203, {{"X-Reply", "1"}, {"Set-Cookie", "k=v"}}).body("hello"));
  const Response response = scene.client.get(scene.origin.url("/a?b=%20"), {{"X-Asked", "2"}});
  EXPECT_EQ(response.status, 203);
  EXPECT_EQ(response.version(), "HTTP/1.1");
  EXPECT_EQ(response.field("X-Reply"), "1");
  EXPECT_EQ(response.field("Set-Cookie"), "k=v");
  EXPECT_EQ(response.body, "hello");
  const Request request = scene.origin.requests("/a?b=%20").at(0);
  EXPECT_EQ(request.start_line, "GET /a?b=%20 HTTP/1.1");
  EXPECT_EQ(request.field("Host"), "127.0.0.1:" + std::to_string(scene.origin.port()));
  EXPECT_EQ(request.field("X-Asked"), "2");
}

TEST(Forwarding, TakesTheHostFromTheTargetNotFromTheField) {  // RFC 9112 section 3.2.2
  Scene scene;
  scene.client.send("GET " + scene.origin.url("/a") + " HTTP/1.1\r\nHost: other.test\r\n\r\n");
  scene.client.read();
  EXPECT_EQ(scene.origin.requests("/a").at(0).field("Host"),
            "127.0.0.1:" + std::to_string(scene.origin.port()));
}

TEST(Forwarding, TellsTheAgeAndLogsTheTypeOfAnAnswerToAnyMethod) {
  Scene scene;
  scene.origin.on("/a", Reply(200, {{"Age", "100"}, {"Date", http_date()}})
                            .with("Content-Type", "text/plain; charset=utf-8")
                            .body("hello"));
  const Response response = scene.client.request("POST", scene.origin.url("/a"), {}, "the body");
  EXPECT_GE(std::stoi(response.field("Age")), 100);
  EXPECT_LE(std::stoi(response.field("Age")), 110);
  EXPECT_EQ(response.field("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(scene.proxy.logged(scene.origin.url("/a")).type, "text/plain");
}

TEST(Forwarding, PassesEveryMethodWithItsBody) {
  Scene scene;
  scene.origin.otherwise([](const Request& request) { return Reply().body(request.method); });
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW-!#$%"}) {
    const Response response = scene.client.request(method, scene.origin.url("/a"), {}, "the body");
    EXPECT_EQ(response.body, method);
    EXPECT_EQ(scene.origin.requests().back().method, method);
    EXPECT_EQ(scene.origin.requests().back().body, "the body") << method;
  }
}

TEST(Forwarding, SuppliesADateWhereThereIsNoneAndChangesNone) {  // RFC 9110 section 6.6.1
  Scene scene;
  scene.origin.on("/none", Reply().body("hello"));
  scene.origin.on("/any", Reply(200, {{"Date", "yesterday"}}).body("hello"));
  for (const char* method : {"GET", "POST", "HEAD"}) {
    const Response none = scene.client.request(method, scene.origin.url("/none"));
    EXPECT_TRUE(none.field("Date").ends_with(" GMT")) << method;
    const Response any = scene.client.request(method, scene.origin.url("/any"));
    EXPECT_EQ(any.field("Date"), "yesterday") << method;
  }
}

TEST(Forwarding, AnswersHeadWithTheLengthAndNoBody) {
  Scene scene;
  scene.origin.on("/a", Reply().body("hello"));
  const Response head = scene.client.request("HEAD", scene.origin.url("/a"));
  EXPECT_EQ(head.field("Content-Length"), "5");
  EXPECT_EQ(scene.origin.requests().at(0).method, "HEAD");
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).body, "hello");
}

TEST(Forwarding, AsksAServerAsAWholeByOptionsWithAnAsterisk) {  // RFC 9112 section 3.2.4
  Scene scene;
  scene.origin.on("*", Reply(204));
  EXPECT_EQ(scene.client.request("OPTIONS", scene.origin.url("")).status, 204);
  EXPECT_EQ(scene.origin.requests().at(0).start_line, "OPTIONS * HTTP/1.1");
}

TEST(Forwarding, PassesAResponseWithoutABodyAsOne) {
  Scene scene;
  scene.origin.on("/204", Reply(204));
  scene.origin.on("/304", Reply(304, {{"ETag", "\"1\""}}));
  scene.origin.on("/empty", Reply());
  EXPECT_EQ(scene.client.get(scene.origin.url("/204")).status, 204);
  const Fields condition{{"If-None-Match", "\"1\""}};
  EXPECT_EQ(scene.client.request("HEAD", scene.origin.url("/304"), condition).status, 304);
  EXPECT_EQ(scene.client.get(scene.origin.url("/empty")).field("Content-Length"), "0");
}

TEST(Forwarding, TakesNo304ThatNobodyAskedFor) {
  Scene scene;
  scene.origin.on("/a", Reply(304, {{"ETag", "\"1\""}}));
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).status, 502);
}

TEST(Forwarding, GoesOnWithAnUploadThroughInterimAnswers) {
  Scene scene;
  Gate read_all;
  scene.origin.on_head(
      "/up", Reply().interim("HTTP/1.1 102 Processing", {}).wait(read_all).body("thanks"));
  scene.client.send("POST " + scene.origin.url("/up") +
                    " HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc");
  ASSERT_TRUE(scene.origin.await_requests("/up", 1));  // the origin has sent 102 by now
  scene.client.send("def");
  read_all.open();
  const Response response = scene.client.read("POST");
  EXPECT_EQ(response.status, 200);
  EXPECT_NE(response.field("Connection"), "close");  // as it would if the body had not been sent
}

TEST(Forwarding, DropsFieldsThatEndAtThisHop) {  // RFC 9110 section 7.6.1
  Scene scene;
  scene.origin.on("/a", Reply(200, {{"Connection", "X-Hop, keep-alive"},
                                    {"X-Hop", "1"},
                                    {"Keep-Alive", "timeout=5"},
                                    {"Proxy-Connection", "keep-alive"},
                                    {"X-End", "2"}})
                            .body("hello"));
  const Response response =
      scene.client.get(scene.origin.url("/a"), {{"Connection", "X-Mine, TE"},
                                                {"X-Mine", "1"},
                                                {"TE", "trailers"},
                                                {"Keep-Alive", "timeout=5"},
                                                {"Proxy-Connection", "keep-alive"},
                                                {"Proxy-Authorization", "Basic bWU6bWU="},
                                                {"Upgrade", "h2c"},
                                                {"X-End", "2"}});
  EXPECT_EQ(response.body, "hello");
  const Request request = scene.origin.requests("/a").at(0);
  for (const char* name : {"X-Mine", "X-Hop", "TE", "Keep-Alive", "Proxy-Connection",
                           "Proxy-Authorization", "Upgrade"}) {
    EXPECT_FALSE(request.has(name)) << name;
    EXPECT_FALSE(response.has(name)) << name;
  }
  EXPECT_FALSE(contains(request.field("Connection"), "X-Mine"));
  EXPECT_EQ(request.field("X-End"), "2");
  EXPECT_EQ(response.field("X-End"), "2");
}

TEST(Forwarding, SaysOnBothSidesThatItWasThere) {  // RFC 9110 section 7.6.3
  Scene scene(json{{"name", "cache-a"}});
  scene.origin.on("/a", Reply(200, {{"Via", "1.0 near-origin"}}).body("hello"));
  const Response response = scene.client.get(scene.origin.url("/a"), {{"Via", "1.1 near-client"}});
  EXPECT_TRUE(response.field("Via").starts_with("1.0 near-origin, 1.1 cache-a"));
  EXPECT_TRUE(
      scene.origin.requests("/a").at(0).field("Via").starts_with("1.1 near-client, 1.1 cache-a"));
}

TEST(Forwarding, RefusesItsOwnRequestComingBack) {
  Scene scene(json{{"name", "cache-a"}});
  const Response response =
      scene.client.get(scene.origin.url("/a"), {{"Via", "1.1 cache-a, 1.1 other"}});
  EXPECT_EQ(response.status, 508);
  EXPECT_EQ(scene.origin.count(), 0U);
}

TEST(Forwarding, AnswersItsOwnRequestComingBackFromTheCache) {
  Scene scene(json{{"name", "cache-a"}});
  scene.origin.on("/a", cacheable("hello"));
  scene.client.get(scene.origin.url("/a"));
  const Response response = scene.client.get(scene.origin.url("/a"), {{"Via", "1.1 cache-a"}});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "hello");
}

TEST(Forwarding, FindsAnOriginByANameWithSeveralAddresses) {
  Scene scene;  // localhost is ::1 and 127.0.0.1; the origin is on the latter alone
  scene.origin.on("/a", Reply().body("hello"));
  const std::string url = "http://localhost:" + std::to_string(scene.origin.port()) + "/a";
  EXPECT_EQ(scene.client.get(url).body, "hello");
}

TEST(Forwarding, Says502WhereNobodyListens) {
  Scene scene;
  const ReservedPort nobody;
  const Response response =
      scene.client.get("http://127.0.0.1:" + std::to_string(nobody.port()) + "/");
  EXPECT_EQ(response.status, 502);
  EXPECT_TRUE(response.has("Cache-Status"));
}

TEST(Forwarding, Says502WhereAnOriginDoesNotSpeakHttp) {
  Scene scene;
  const std::string answers[] = {
      "SSH-2.0-OpenSSH_9.2\r\n",
      "HTTP/1.1 abc\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
      "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: "
      "3\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nBad Name: 1\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX: 1",
      "",
  };
  for (const std::string& answer : answers) {
    scene.origin.on("/a", Reply::raw(answer));
    Client client(scene.proxy.port());
    EXPECT_EQ(client.get(scene.origin.url("/a")).status, 502) << answer;
  }
}

TEST(Forwarding, TakesNothingForAnAnswerThatFollowsAMalformedOne) {
  Scene scene;
  const std::string malformed = "HTTP/1.1 200 OK\r\nBad Name: 1\r\n\r\n";
  const std::string another = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
  scene.origin.on_head("/a", Reply::raw(malformed + another));
  for (const Fields& fields : {Fields{{"Expect", "100-continue"}}, Fields{}}) {
    Client client(scene.proxy.port());
    client.send(request_text("PUT", scene.origin.url("/a"), fields, std::string(300'000, 'x')));
    const Response response = client.read("PUT");
    EXPECT_EQ(response.status, 502) << response.body;
  }
}

}  // namespace
}  // namespace scenario
