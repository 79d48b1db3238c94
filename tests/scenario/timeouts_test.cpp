// Every state of a connection has a limit. Each test makes one of settings.timeouts short.
#include <gtest/gtest.h>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

json timeouts(const json& values) {
  return {{"timeouts", values}};
}

TEST(Timeouts, EndARequestHeadThatDoesNotEnd) {
  Scene scene(timeouts({{"head", "200ms"}}));
  scene.client.send("GET " + scene.origin.url("/a") + " HTTP/1.1\r\nHo");
  const std::string answer = scene.client.read_bytes(std::string::npos);
  EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 408 ")) << answer;
}

TEST(Timeouts, EndAHeadWithoutABodyWhereTheMethodIsHead) {
  Scene scene(timeouts({{"head", "200ms"}}));
  for (const std::string empty_line : {"", "\r\n"}) {
    Client client(scene.proxy.port());
    client.send(empty_line + "HEAD " + scene.origin.url("/a") + " HTTP/1.1\r\nHo");
    const std::string answer = client.read_bytes(std::string::npos);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 408 ")) << answer;
    EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
  }
}

TEST(Timeouts, EndAnIdleConnection) {
  Scene scene(timeouts({{"keep_alive", "200ms"}}));
  scene.origin.on("/a", Reply().body("hello"));
  scene.client.get(scene.origin.url("/a"));
  EXPECT_TRUE(scene.client.is_closed());
}

TEST(Timeouts, EndAnUploadThatStops) {
  Scene scene(timeouts({{"body", "200ms"}}));
  scene.origin.on("/a", Reply(201));
  scene.client.send(request_text("PUT", scene.origin.url("/a"), {{"Content-Length", "10"}}));
  scene.client.send("first");
  const std::string answer = scene.client.read_bytes(std::string::npos);
  EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 408 ")) << answer;
  EXPECT_FALSE(scene.origin.requests("/a").at(0).whole);
}

TEST(Timeouts, Say504ForAnOriginThatDoesNotAnswer) {
  Scene scene(timeouts({{"first_byte", "200ms"}}));
  scene.origin.on("/a", Reply().wait(Gate()));
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).status, 504);
}

TEST(Timeouts, Say504ForAnOriginThatDoesNotAccept) {
  Scene scene(timeouts({{"connect", "300ms"}}));
  Listener full(0);
  const Socket taken = Socket::connect(full.port());  // a backlog of 0 has room for one connection
  const std::string url = "http://127.0.0.1:" + std::to_string(full.port()) + "/";
  EXPECT_EQ(scene.client.get(url).status, 504);
}

TEST(Timeouts, CutAResponseWhoseBodyStops) {
  Scene scene(timeouts({{"body", "200ms"}}));
  scene.origin.on(
      "/a", Reply(200, {{"Cache-Control", "max-age=60"}}).sized(10).send("12345").wait(Gate()));
  const Response cut = scene.client.get(scene.origin.url("/a"));
  EXPECT_EQ(cut.body, "12345");
  EXPECT_FALSE(cut.whole);
  EXPECT_TRUE(scene.client.is_closed());
}

}  // namespace
}  // namespace scenario
