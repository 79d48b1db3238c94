// Simultaneous misses of one URL make one request upstream, and no client waits needlessly.
#include <gtest/gtest.h>

#include <memory>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

// Clients of one proxy that all request one URL before any has a response.
struct Crowd {
  Crowd(const ProxyProcess& proxy, std::size_t size, const std::string& request) {
    for (std::size_t i = 0; i < size; ++i) {
      clients.push_back(std::make_unique<Client>(proxy.port()));
      clients.back()->send(request);
    }
  }
  std::vector<std::unique_ptr<Client>> clients;
};

TEST(Collapsing, MakesOneRequestOfManyMisses) {
  Scene scene;
  Gate gate;
  scene.origin.on("/a", Reply(200, {{"Cache-Control", "max-age=60"}}).wait(gate).body("hello"));
  Crowd crowd(scene.proxy, 20, request_text("GET", scene.origin.url("/a")));
  ASSERT_TRUE(scene.origin.await_requests("/a", 1));
  gate.open();
  for (auto& client : crowd.clients) EXPECT_EQ(client->read().body, "hello");
  EXPECT_EQ(scene.origin.count("/a"), 1U);
}

TEST(Collapsing, LetsFollowersReadWhileTheBodyComes) {
  Scene scene;
  Gate gate;
  scene.origin.on("/a", Reply(200, {{"Cache-Control", "max-age=60"}})
                            .sized(11)
                            .send("hello ")
                            .wait(gate)
                            .send("world"));
  scene.client.send(request_text("GET", scene.origin.url("/a")));
  Response first = scene.client.read_head();
  EXPECT_EQ(scene.client.read_body(6), "hello ");
  Client follower(scene.proxy.port());
  follower.send(request_text("GET", scene.origin.url("/a")));
  Response second = follower.read_head();
  EXPECT_TRUE(contains(second.field("Cache-Status"), "collapsed"));
  EXPECT_EQ(follower.read_body(6), "hello ");
  gate.open();
  scene.client.read_rest(first);
  follower.read_rest(second);
  EXPECT_EQ(first.body + second.body, "worldworld");
  EXPECT_TRUE(first.whole && second.whole);
  EXPECT_EQ(scene.origin.count("/a"), 1U);
}

TEST(Collapsing, DoesNotQueueAskersOfWhatIsNotShared) {
  Scene scene;
  Gate first;
  Gate second;
  scene.origin.on("/a", Reply(200, {{"Cache-Control", "no-store"}}).wait(first).body("mine"));
  Crowd crowd(scene.proxy, 5, request_text("GET", scene.origin.url("/a")));
  ASSERT_TRUE(scene.origin.await_requests("/a", 1));
  scene.origin.on("/a", Reply(200, {{"Cache-Control", "no-store"}}).wait(second).body("mine"));
  first.open();
  // The four that waited and three later ones all reach the origin before it answers any.
  Crowd late(scene.proxy, 3, request_text("GET", scene.origin.url("/a")));
  EXPECT_TRUE(scene.origin.await_requests("/a", 8));
  second.open();
  for (auto& client : crowd.clients) EXPECT_EQ(client->read().body, "mine");
  for (auto& client : late.clients) EXPECT_EQ(client->read().body, "mine");
}

TEST(Collapsing, NeverHandsAFollowerAnotherVariant) {
  Scene scene;
  Gate gate;
  scene.origin.on("/a", [gate](const Request& request) {
    Reply reply = Reply(200, {{"Cache-Control", "max-age=60"}, {"Vary", "Accept-Language"}});
    return reply.wait(gate).body(request.field("Accept-Language"));
  });
  Client german(scene.proxy.port());
  Client french(scene.proxy.port());
  german.send(request_text("GET", scene.origin.url("/a"), {{"Accept-Language", "de"}}));
  ASSERT_TRUE(scene.origin.await_requests("/a", 1));
  french.send(request_text("GET", scene.origin.url("/a"), {{"Accept-Language", "fr"}}));
  gate.open();
  EXPECT_EQ(german.read().body, "de");
  EXPECT_EQ(french.read().body, "fr");
}

TEST(Collapsing, GoesOnForFollowersWhenTheFirstLeaves) {
  Scene scene;
  Gate gate;
  scene.origin.on("/a", Reply(200, {{"Cache-Control", "max-age=60"}})
                            .sized(11)
                            .send("hello ")
                            .wait(gate)
                            .send("world"));
  auto first = std::make_unique<Client>(scene.proxy.port());
  first->send(request_text("GET", scene.origin.url("/a")));
  first->read_head();
  scene.client.send(request_text("GET", scene.origin.url("/a")));
  Response second = scene.client.read_head();
  first.reset();
  gate.open();
  scene.client.read_rest(second);
  EXPECT_EQ(second.body, "hello world");
  EXPECT_EQ(scene.origin.count("/a"), 1U);
}

TEST(Collapsing, ShowsEveryFollowerTheCut) {
  Scene scene;
  Gate gate;
  scene.origin.on(
      "/a",
      Reply(200, {{"Cache-Control", "max-age=60"}}).sized(11).send("hello ").wait(gate).cut());
  Crowd crowd(scene.proxy, 3, request_text("GET", scene.origin.url("/a")));
  std::vector<Response> responses;
  for (auto& client : crowd.clients) responses.push_back(client->read_head());
  gate.open();
  for (std::size_t i = 0; i < responses.size(); ++i) {
    crowd.clients[i]->read_rest(responses[i]);
    EXPECT_FALSE(responses[i].whole);
  }
}

TEST(Collapsing, IsNotHeldUpByASlowFirstReader) {
  Scene scene;
  const std::string body = numbered_bytes(12U << 20);
  scene.origin.on("/a", Reply(200, {{"Cache-Control", "max-age=60"}}).body(body));
  Client slow(scene.proxy.port());
  slow.send(request_text("GET", scene.origin.url("/a")));
  ASSERT_EQ(slow.read_head().status, 200);
  EXPECT_TRUE(scene.client.get(scene.origin.url("/a")).body == body);
}

TEST(Collapsing, KeepsOnlyIfCachedFromWaiting) {
  Scene scene;
  Gate gate;
  scene.origin.on("/a", Reply(200, {{"Cache-Control", "max-age=60"}}).wait(gate).body("hello"));
  scene.client.send(request_text("GET", scene.origin.url("/a")));
  ASSERT_TRUE(scene.origin.await_requests("/a", 1));
  Client neighbour(scene.proxy.port());
  EXPECT_EQ(neighbour.get(scene.origin.url("/a"), {{"Cache-Control", "only-if-cached"}}).status,
            504);
  gate.open();
  EXPECT_EQ(scene.client.read().body, "hello");
}

}  // namespace
}  // namespace scenario
