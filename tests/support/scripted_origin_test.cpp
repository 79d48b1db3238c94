// The scripted origin and the client against each other: what the scenarios are built of.
#include "tests/support/scripted_origin.hpp"

#include <gtest/gtest.h>

#include "tests/support/client.hpp"

namespace support {
namespace {

TEST(ScriptedOrigin, AnswersAndRemembersWhatItWasAsked) {
  ScriptedOrigin origin;
  origin.on("/a", Reply(201, {{"X-Reply", "1"}}).body("hello"));
  Client client(origin.port());
  const Response response = client.request("PUT", origin.url("/a"), {{"X-Asked", "2"}}, "body");
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.field("x-reply"), "1");
  EXPECT_EQ(response.body, "hello");
  EXPECT_TRUE(response.whole);
  const Request request = origin.requests("/a").at(0);
  EXPECT_EQ(request.method, "PUT");
  EXPECT_EQ(request.field("x-asked"), "2");
  EXPECT_EQ(request.body, "body");
  EXPECT_TRUE(request.whole);
}

TEST(ScriptedOrigin, CountsTheRequestsOfEachConnection) {
  ScriptedOrigin origin;
  Client first(origin.port());
  first.get(origin.url("/a"));
  first.get(origin.url("/b"));
  Client(origin.port()).get(origin.url("/c"));
  EXPECT_EQ(origin.count(), 3U);
  EXPECT_EQ(origin.requests("/b").at(0).on_connection, 1U);
  EXPECT_EQ(origin.requests("/c").at(0).connection, 1U);
}

TEST(ScriptedOrigin, HoldsTheBodyUntilItsGateOpens) {
  ScriptedOrigin origin;
  Gate gate;
  origin.on("/a", Reply().chunked().send("first").wait(gate).send("second"));
  Client client(origin.port());
  client.send(request_text("GET", origin.url("/a")));
  Response response = client.read_head();
  EXPECT_EQ(client.read_body(5), "first");
  gate.open();
  client.read_rest(response);
  EXPECT_EQ(response.body, "second");
  EXPECT_TRUE(response.whole);
}

TEST(ScriptedOrigin, CutsABodyShort) {
  ScriptedOrigin origin;
  origin.on("/sized", Reply().sized(10).send("12345").cut());
  origin.on("/chunked", Reply().chunked().send("12345").cut());
  for (const char* path : {"/sized", "/chunked"}) {
    Client client(origin.port());
    const Response response = client.get(origin.url(path));
    EXPECT_EQ(response.body, "12345");
    EXPECT_FALSE(response.whole) << path;
  }
}

TEST(ScriptedOrigin, SendsInterimResponsesAndAsksForABodyThatIsOffered) {
  ScriptedOrigin origin;
  origin.on("/a", Reply().interim("HTTP/1.1 103 Early Hints", {{"Link", "</x>"}}).body("done"));
  Client client(origin.port());
  client.request("POST", origin.url("/a"), {{"Expect", "100-continue"}}, "body");
  ASSERT_EQ(client.interim().size(), 2U);
  EXPECT_EQ(client.interim()[0].status, 100);
  EXPECT_EQ(client.interim()[1].field("Link"), "</x>");
}

TEST(ScriptedOrigin, AnswersHeadWithoutABody) {
  ScriptedOrigin origin;
  origin.on("/a", Reply().body("hello"));
  Client client(origin.port());
  const Response response = client.request("HEAD", origin.url("/a"));
  EXPECT_EQ(response.field("Content-Length"), "5");
  EXPECT_EQ(client.get(origin.url("/a")).body, "hello");
}

}  // namespace
}  // namespace support
