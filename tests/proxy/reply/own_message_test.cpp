#include "proxy/reply/own_message.hpp"

#include <gtest/gtest.h>

#include "tests/peers/samples.hpp"
#include "tests/proxy/client/serve_scene.hpp"

namespace proxy::reply {
namespace {

using namespace std::chrono_literals;

net::Task<void> send(client::Client& client, const OwnMessage& message,
                     std::chrono::milliseconds pause = {}) {
  co_await send_message(client, message, pause);
}

net::Task<void> send_in_parts(client::Client& client) {
  const auto head = own_head(client, 200, "text/plain");
  co_await send_head(client, head);
  co_await client.response.body(net::asio::buffer("ab", 2));
  co_await client.response.body(net::asio::buffer("cd", 2));
  co_await client.response.finish();
}

struct OwnCase {
  const char* name;
  unsigned status;
  const char* type;
  std::string body;
  std::string first_line;
  std::string logged_type;
};

TEST(OwnMessage, SaysWhoMadeItAndThatNobodyMayKeepIt) {
  for (const OwnCase& c :
       {OwnCase{"text", 413, "text/plain; charset=utf-8", "no\n", "HTTP/1.1 413 Payload Too Large",
                "text/plain"},
        OwnCase{"json", 200, "application/json", "{}", "HTTP/1.1 200 OK", "application/json"},
        OwnCase{"no body", 204, "", "", "HTTP/1.1 204 No Content", ""},
        OwnCase{"unknown status", 599, "text/plain", "x", "HTTP/1.1 599 ", "text/plain"}}) {
    client::ServeScene scene;
    const auto message = own_message(scene.client, c.status, c.type, c.body);
    scene.run(send(scene.client, message));
    const auto& got = scene.response;
    EXPECT_TRUE(got.head().starts_with(c.first_line)) << c.name << '\n' << got.head();
    EXPECT_TRUE(got.field("Server").starts_with("Hearsay/")) << c.name;
    EXPECT_EQ(got.field("Date"), cache::kStartDate) << c.name;
    EXPECT_EQ(got.field("Via"), "1.1 cache-a") << c.name;
    EXPECT_EQ(got.field("Cache-Control"), "no-store") << c.name;
    EXPECT_EQ(got.field("Cache-Status"), "cache-a") << c.name;
    EXPECT_EQ(got.field("Content-Type"), c.type) << c.name;
    EXPECT_EQ(got.field("Content-Length"), "") << c.name << ": the writer adds the framing";
    EXPECT_EQ(got.length(), c.body.size()) << c.name;
    EXPECT_EQ(got.content(), c.body) << c.name;
    EXPECT_EQ(scene.record.content_type, c.logged_type) << c.name;
    EXPECT_TRUE(got.finished()) << c.name;
  }
}

TEST(OwnMessage, HasItsLengthAndNoBodyInAnswerToHead) {
  client::ServeScene scene;
  scene.response.begin(true);
  const auto message = own_message(scene.client, 200, "text/plain", "body");
  scene.run(send(scene.client, message));
  EXPECT_EQ(scene.response.length(), 4U);
  EXPECT_EQ(scene.response.content(), "");
}

TEST(OwnMessage, OfPartsHasNoLength) {
  client::ServeScene scene;
  scene.run(send_in_parts(scene.client));
  EXPECT_EQ(scene.response.length(), std::nullopt);
  EXPECT_EQ(scene.response.content(), "abcd");
  EXPECT_EQ(scene.record.content_type, "text/plain");
  EXPECT_TRUE(scene.state.finished);
}

TEST(OwnMessage, IsNotFinishedForAClientThatHasLeft) {
  client::ServeScene scene;
  scene.response.client_leaves_after(0);
  const auto message = own_message(scene.client, 200, "text/plain", "body");
  scene.run(send(scene.client, message));
  EXPECT_FALSE(scene.state.finished);
}

TEST(OwnMessage, SaysInCacheStatusWhatTheRecordKnows) {
  client::ServeScene scene;
  scene.record.rule = "rule/0";
  http::CacheStatus status;
  status.fwd = http::Forward::uri_miss;
  status.detail = "gone";
  const auto head = own_head(scene.client, 504, "", status);
  EXPECT_EQ(head["Cache-Status"], "cache-a; fwd=uri-miss; detail=\"gone rule/0\"");
  EXPECT_EQ(scene.record.told.fwd, http::Forward::uri_miss);
  EXPECT_EQ(scene.record.told.detail, "gone rule/0") << "for the log";
}

TEST(OwnMessage, ProvesToANeighbourThatItIsOurs) {
  client::ServeScene scene;
  EXPECT_EQ(own_head(scene.client, 200, "").count(std::string(peers::kEpochField)), 0U);
  scene.client.tells_epoch = true;
  EXPECT_EQ(own_head(scene.client, 200, "")[std::string(peers::kEpochField)],
            scene.publisher.epochs());
}

}  // namespace
}  // namespace proxy::reply
