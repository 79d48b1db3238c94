// A neighbour may ask us to hold its poll until our digest changes. It then knows a claim at once,
// and a quiet time costs almost no polls.
#include <gtest/gtest.h>

#include <thread>

#include "peers/native_target.hpp"
#include "tests/scenario/peers/peer_scene.hpp"
#include "tests/support/patience.hpp"

namespace scenario {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

const std::string kPolledPath{peers::kNativePath};

// A proxy with nothing stored, and a neighbour that holds its digest.
struct Polled : Scene {
  Polled() : Scene(json{{"digest", nullptr}}) {
    origin.otherwise([](const Request&) { return cacheable("x"); });
    etag = proxy.page(kPolledPath).field("ETag");
  }

  // Sends a poll that may be held for so long.
  void poll(std::chrono::milliseconds wait) {
    const auto query = kPolledPath + "?wait=" + std::to_string(wait.count());
    asked = steady_clock::now();
    neighbour.send(origin_form_text(proxy.address(), "GET", query, {{"If-None-Match", etag}}));
  }
  // Until the proxy holds a poll.
  bool is_held() const {
    return await([&] { return proxy.metric("hearsay_held_polls") == 1; });
  }
  steady_clock::duration passed() const { return steady_clock::now() - asked; }

  Client neighbour{proxy.port()};
  std::string etag;
  steady_clock::time_point asked;
};

TEST(HeldPoll, IsAnsweredAsSoonAsSomethingIsStored) {
  Polled scene;
  std::this_thread::sleep_for(1500ms);  // a quiet time of three periods
  scene.poll(20s);
  ASSERT_TRUE(scene.is_held());
  scene.client.get(scene.origin.url("/a"));
  const auto stored = steady_clock::now();
  const Response answer = scene.neighbour.read();
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.field("ETag"), scene.etag);
  EXPECT_LT(steady_clock::now() - stored, allowed(100ms));
}

TEST(HeldPoll, IsUnchangedWhenItsTimeIsOver) {
  Polled scene;
  scene.poll(400ms);
  EXPECT_EQ(scene.neighbour.read().status, 304);
  EXPECT_GE(scene.passed(), 400ms);
  EXPECT_LT(scene.passed(), allowed(600ms));
  scene.poll(0ms);
  EXPECT_EQ(scene.neighbour.read().status, 304) << "on the same connection";
}

TEST(HeldPoll, IsHeldForNobodyWhoHoldsNothing) {
  Polled scene;
  scene.etag = "\"0000000000000000-1\"";
  scene.poll(20s);
  EXPECT_EQ(scene.neighbour.read().status, 200);
  EXPECT_LT(scene.passed(), allowed(200ms));
}

TEST(HeldPoll, EndsWhenTheProxyDrains) {
  Polled scene;
  scene.poll(30s);
  ASSERT_TRUE(scene.is_held());
  scene.proxy.process().signal(SIGTERM);
  EXPECT_EQ(scene.neighbour.read().status, 304);
  EXPECT_LT(scene.passed(), allowed(2s));
}

TEST(HeldPoll, TellsNeighboursOfAClaimAtOnceAndAsksSeldom) {
  ScriptedOrigin origin;
  origin.otherwise([](const Request&) { return cacheable("x"); });
  const Neighbours neighbours(json{{"digest", nullptr}});
  ASSERT_TRUE(neighbours.b_knows(0));
  const auto polls = [&] { return neighbours.b.digest_peer("a").at("polls").get<int>(); };
  const int before = polls();
  std::this_thread::sleep_for(4s);  // quiet
  EXPECT_LE(polls() - before, 5) << "where each is held for a second";
  Client(neighbours.a.port()).get(origin.url("/a"));
  const auto stored = steady_clock::now();
  EXPECT_TRUE(neighbours.b_knows(1));
  EXPECT_LT(steady_clock::now() - stored, allowed(100ms));
  EXPECT_EQ(neighbours.b.digest_peer("a").at("polls_failed"), 0);
}

}  // namespace
}  // namespace scenario
