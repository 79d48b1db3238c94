// Clients that take very long to send a request.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "tests/scenario/limits/crowd_scene.hpp"

namespace scenario {
namespace {

using namespace std::chrono_literals;

double cut(const ProxyProcess& proxy, const std::string& why) {
  return proxy.metric("hearsay_cuts_total{why=\"" + why + "\"}");
}

TEST(SlowHeads, TakeNoMoreMemoryThanTheirLimitAndTheOldestGo) {
  constexpr std::size_t kHeads = 200;
  CrowdScene scene(json{{"heads", "1MiB"}});
  Client other(scene.proxy.port(), kOther);
  const std::string request = request_text("GET", scene.url());
  other.send(request.substr(0, 20));
  const std::string part = "GET " + scene.url() + " HTTP/1.1\r\nX: " + std::string(40'000, 'x');
  scene.gather(kHeads);
  for (auto& client : scene.crowd) client->send(part);
  // Each takes 64 KiB.
  EXPECT_TRUE(await([&] { return cut(scene.proxy, "heads") >= kHeads - 16; }));
  EXPECT_LT(cut(scene.proxy, "heads"), kHeads) << "as long as there is room, heads may be slow";
  const auto line = scene.proxy.logged("error:request-timeout");
  EXPECT_EQ(line.client, "127.0.0.1");
  EXPECT_EQ(line.result, "NONE_NONE_HEADS");
  EXPECT_EQ(line.status, 408);
  other.send(request.substr(20));
  EXPECT_EQ(other.read().status, 200) << "its client has not the most\n"
                                      << read_file(scene.proxy.access_log_path());
}

// The origin answers none of these requests before the test ends.
TEST(SlowAnswers, ToLargeHeadsTakeNoMoreMemoryThanTheLimitAndTheOldestGo) {
  constexpr std::size_t kHeads = 40;
  for (const auto* method : {"GET", "POST"}) {
    CrowdScene scene(json{{"heads", "1MiB"}});
    scene.origin.otherwise(
        [&scene](const Request&) { return Reply().wait(scene.gate).body("hello"); });
    const auto large = [&](const std::string& path) {
      const bool has_body = method == std::string_view("POST");
      return request_text(method, scene.url(path), {{"X", std::string(40'000, 'x')}},
                          has_body ? "x" : "");
    };
    Client other(scene.proxy.port(), kOther);
    other.send(large("/joined"));
    ASSERT_TRUE(scene.origin.await_requests("/joined", 1));
    scene.gather(kHeads);
    for (std::size_t i = 0; i < kHeads; ++i)
      scene.crowd[i]->send(large(i % 2 == 0 ? "/joined" : "/own/" + std::to_string(i)));
    // Each takes between 100 and 250 KiB.
    EXPECT_TRUE(await([&] { return cut(scene.proxy, "heads") >= kHeads - 10; })) << method;
    EXPECT_LT(cut(scene.proxy, "heads"), kHeads) << method;
    std::size_t ended = 0;
    EXPECT_TRUE(await([&] {
      ended = 0;
      for (const auto& line : scene.proxy.access_log()) {
        if (!line.result.ends_with("_HEADS")) continue;
        EXPECT_EQ(line.client, "127.0.0.1") << line.url;
        ++ended;
      }
      return ended >= kHeads - 10;
    })) << method
        << ": a request that is cut ends at once, but only so many have: " << ended;
    scene.gate.open();
    EXPECT_EQ(other.read().status, 200) << "its client has not the most";
  }
}

TEST(SlowAnswers, ToSmallHeadsAreNotCut) {
  CrowdScene scene(json{{"heads", "1MiB"}});
  scene.gather_busy(100);  // which take buffers of 16 KiB
  EXPECT_EQ(cut(scene.proxy, "heads"), 0);
  scene.gate.open();
  for (auto& client : scene.crowd) EXPECT_EQ(client->read().status, 200);
}

// Sends the bytes one by one, ten in a second, until `stop`.
void trickle(Client& client, std::size_t bytes, const std::atomic<bool>& stop) {
  for (std::size_t i = 0; i < bytes && client.send("x"); ++i) {
    if (await([&] { return stop.load(); }, 100ms)) return;
  }
}

struct Trickle {
  Trickle(Client& client, std::size_t bytes)
      : sender([this, &client, bytes] { trickle(client, bytes, stop); }) {}
  ~Trickle() { stop = true; }

  std::atomic<bool> stop = false;
  std::jthread sender;
};

// Both tests: each byte comes in time, but the average over a second is far below 100 bytes.
TEST(SlowUploads, EndWith408) {
  Scene scene(json{{"timeouts", {{"body", "2s"}}}});
  scene.origin.on("/a", Reply(201));
  scene.client.send(request_text("PUT", scene.origin.url("/a"), {{"Content-Length", "1000"}}));
  const Trickle slow(scene.client, 999);
  const Response response = scene.client.read("PUT");
  EXPECT_EQ(response.status, 408);
  EXPECT_EQ(response.field("Connection"), "close");  // RFC 9110 section 15.5.9
  EXPECT_FALSE(scene.origin.requests("/a").at(0).whole);
  const auto line = scene.proxy.logged(scene.origin.url("/a"));
  EXPECT_EQ(line.status, 408);
  EXPECT_TRUE(line.result.ends_with("_SLOW")) << line.result;
}

TEST(SlowHeads, EndWith408) {
  Scene scene(json{{"timeouts", {{"head", "2s"}}}});
  scene.client.send("GET " + scene.origin.url("/a") + " HTTP/1.1\r\nX: ");
  const Trickle slow(scene.client, 1000);
  EXPECT_EQ(scene.client.read().status, 408);
  const auto line = scene.proxy.logged("error:request-timeout");
  EXPECT_EQ(line.result, "NONE_NONE_SLOW") << "before timeouts.head";
  EXPECT_EQ(scene.origin.count(), 0U);
}

// The rate is judged after each half of the limit, so this lasts longer than that.
TEST(SlowUploads, ThatMeetTheRateArrive) {
  const std::chrono::milliseconds kLimit = allowed(6s);
  Scene scene(json{{"timeouts", {{"body", std::to_string(kLimit.count()) + "ms"}}},
                   {"limits", {{"least_rate", "10B"}}}});
  scene.origin.on("/a", Reply(201));
  const auto end = std::chrono::steady_clock::now() + kLimit * 2 / 3;
  const Fields chunked{{"Transfer-Encoding", "chunked"}};
  scene.client.send(request_text("PUT", scene.origin.url("/a"), chunked));
  const auto over = [&] { return std::chrono::steady_clock::now() >= end; };
  while (!await(over, 100ms)) ASSERT_TRUE(scene.client.send(chunk(std::string(100, 'x'))));
  scene.client.send(kLastChunk);
  EXPECT_EQ(scene.client.read("PUT").status, 201);
}

}  // namespace
}  // namespace scenario
