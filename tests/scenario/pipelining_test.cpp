// Requests that a client sends without waiting for the responses before (RFC 9112 9.3.2). Hits in
// memory may be written together, and nothing else changes.
#include <gtest/gtest.h>

#include <thread>

#include "tests/scenario/scene.hpp"
#include "tests/support/await.hpp"

namespace scenario {
namespace {

struct Pipeline : Scene {
  explicit Pipeline(const json& settings = json::object()) : Scene(settings) {
    origin.otherwise([](const Request& request) { return cacheable("of " + request.path); });
  }
  // Stores the responses of these paths.
  void store(const std::vector<std::string>& paths) {
    for (const auto& path : paths) ASSERT_EQ(client.get(origin.url(path)).status, 200);
  }
  std::string ask(std::string_view path, const Fields& fields = {},
                  std::string_view method = "GET") const {
    return request_text(method, origin.url(path), fields);
  }
};

TEST(Pipelining, AnswersHitsInOrder) {
  Pipeline scene;
  std::string requests;
  std::vector<std::string> paths;
  for (int i = 0; i < 40; ++i) paths.push_back("/" + std::to_string(i));
  scene.store(paths);
  for (const auto& path : paths) requests += scene.ask(path);
  scene.client.send(requests);
  for (const auto& path : paths) {
    const auto response = scene.client.read();
    EXPECT_EQ(response.body, "of " + path);
    EXPECT_TRUE(is_hit(response));
  }
}

TEST(Pipelining, MixesLargeAndSmallHits) {
  Pipeline scene;
  const auto large = numbered_bytes(300'000);
  const auto middle = numbered_bytes(12'000);
  scene.origin.on("/large", cacheable(large));
  scene.origin.on("/middle", cacheable(middle));
  scene.store({"/a", "/large", "/middle"});
  scene.client.send(scene.ask("/a") + scene.ask("/middle") + scene.ask("/middle") +
                    scene.ask("/large") + scene.ask("/a"));
  EXPECT_EQ(scene.client.read().body, "of /a");
  EXPECT_EQ(scene.client.read().body, middle);
  EXPECT_EQ(scene.client.read().body, middle);
  EXPECT_EQ(scene.client.read().body, large);
  EXPECT_EQ(scene.client.read().body, "of /a");
}

TEST(Pipelining, MixesHeadsRangesAndConditionalRequests) {
  Pipeline scene;
  scene.origin.on("/a", cacheable("0123456789").with("ETag", "\"1\""));
  scene.store({"/a"});
  scene.client.send(scene.ask("/a", {}, "HEAD") + scene.ask("/a", {{"If-None-Match", "\"1\""}}) +
                    scene.ask("/a", {{"Range", "bytes=2-4"}}) +
                    scene.ask("/a", {{"Range", "bytes=90-"}}) + scene.ask("/a"));
  EXPECT_EQ(scene.client.read("HEAD").field("Content-Length"), "10");
  EXPECT_EQ(scene.client.read().status, 304);
  EXPECT_EQ(scene.client.read().body, "234");
  EXPECT_EQ(scene.client.read().status, 416);
  EXPECT_EQ(scene.client.read().body, "0123456789");
}

TEST(Pipelining, EndsWithTheRequestThatAsksForIt) {
  Pipeline scene;
  scene.store({"/a"});
  scene.client.send(scene.ask("/a") + scene.ask("/a", {{"Connection", "close"}}) + scene.ask("/a"));
  EXPECT_EQ(scene.client.read().body, "of /a");
  EXPECT_TRUE(contains(scene.client.read().field("Connection"), "close"));
  EXPECT_TRUE(scene.client.is_closed());
}

TEST(Pipelining, EndsWithARequestThatIsRefused) {
  Pipeline scene;
  scene.store({"/a"});
  scene.client.send(scene.ask("/a") + "no request\r\n\r\n");
  EXPECT_EQ(scene.client.read().body, "of /a");
  EXPECT_EQ(scene.client.read().status, 400);
  EXPECT_TRUE(scene.client.is_closed());
}

// A hit must not wait for anything that the next request waits for.
TEST(Pipelining, AHitGoesBeforeTheNextRequestWaitsForTheOrigin) {
  Pipeline scene;
  Gate gate;
  scene.origin.on("/slow", Reply().wait(gate).body("slow"));
  scene.store({"/a"});
  scene.client.send(scene.ask("/a") + scene.ask("/a") + scene.ask("/slow"));
  EXPECT_EQ(scene.client.read().body, "of /a");
  EXPECT_EQ(scene.client.read().body, "of /a");
  gate.open();
  EXPECT_EQ(scene.client.read().body, "slow");
}

TEST(Pipelining, AHitGoesBeforeTheNextRequestsBodyIsRead) {
  Pipeline scene;
  scene.store({"/a"});
  scene.client.send(scene.ask("/a") + "POST " + scene.origin.url("/post") +
                    " HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n");
  EXPECT_EQ(scene.client.read().body, "of /a");
  scene.client.send("body");
  EXPECT_EQ(scene.client.read().body, "of /post");
}

TEST(Pipelining, AHitGoesBeforeTheRestOfTheNextHeadArrives) {
  Pipeline scene;
  scene.store({"/a"});
  const auto next = scene.ask("/a");
  scene.client.send(scene.ask("/a") + next.substr(0, 10));
  EXPECT_EQ(scene.client.read().body, "of /a");
  scene.client.send(next.substr(10));
  EXPECT_EQ(scene.client.read().body, "of /a");
}

TEST(Pipelining, AHitGoesBeforeATunnel) {
  Pipeline scene(json{{"access", {{"connect_ports", {1}}}}});
  scene.store({"/a"});
  scene.client.send(scene.ask("/a") + "CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(scene.client.read().body, "of /a");
  EXPECT_EQ(scene.client.read("CONNECT").status, 502);
}

TEST(Pipelining, AHitGoesBeforeOurOwnPages) {
  Pipeline scene;
  scene.store({"/a"});
  scene.client.send(scene.ask("/a") + origin_form_text(scene.proxy.address(), "GET", "/metrics") +
                    scene.ask("/a"));
  EXPECT_EQ(scene.client.read().body, "of /a");
  EXPECT_TRUE(contains(scene.client.read().body, "hearsay_"));
  EXPECT_EQ(scene.client.read().body, "of /a");
}

// More requests than one read takes, so that heads are cut at each place.
TEST(Pipelining, LosesNothingWhereTheBufferEnds) {
  Pipeline scene;
  scene.store({"/a"});
  constexpr int kRequests = 3000;
  std::string requests;
  for (int i = 0; i < kRequests; ++i) {
    requests += scene.ask("/a", {{"X-Number", std::string(static_cast<std::size_t>(i % 97), 'x')}});
  }
  std::thread sending([&] { scene.client.send(requests); });
  for (int i = 0; i < kRequests; ++i) ASSERT_EQ(scene.client.read().body, "of /a") << i;
  sending.join();
}

TEST(Pipelining, IsLoggedAndCountedForEachRequest) {
  Pipeline scene;
  scene.store({"/a"});
  scene.client.send(scene.ask("/a") + scene.ask("/a") + scene.ask("/a"));
  std::size_t bytes = 0;
  for (int i = 0; i < 3; ++i) {
    const auto response = scene.client.read();
    bytes = head_text(response.start_line, response.fields).size() + response.body.size();
  }
  const auto url = scene.origin.url("/a");
  ASSERT_TRUE(await([&] { return lines_about(url, scene.proxy.access_log()).size() == 4; }));
  const auto lines = lines_about(url, scene.proxy.access_log());
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(lines[i].result, "TCP_MEM_HIT");
    EXPECT_EQ(lines[i].status, 200);
    EXPECT_EQ(lines[i].bytes, static_cast<long>(bytes));
  }
  EXPECT_EQ(scene.proxy.metric("hearsay_requests_total{result=\"hit\"}"), 3);
}

TEST(Pipelining, KeepsToTheLimitOfBandwidth) {
  Pipeline scene(json{{"limits", {{"bandwidth_per_client", "100KiB"}}}});
  const auto body = numbered_bytes(10'000);
  scene.origin.on("/a", cacheable(body));
  scene.store({"/a"});
  std::string requests;
  for (int i = 0; i < 20; ++i) requests += scene.ask("/a");
  const auto begun = std::chrono::steady_clock::now();
  scene.client.send(requests);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(scene.client.read().body, body);
  EXPECT_GT(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(1000));
}

// What is held back for a client that does not read is bounded, and its time-out comes.
TEST(Pipelining, EndsForAClientThatDoesNotRead) {
  Pipeline scene(json{{"timeouts", {{"body", "1s"}}}});
  scene.origin.on("/a", cacheable(numbered_bytes(4000)));
  scene.store({"/a"});
  std::string requests;
  for (int i = 0; i < 16; ++i) requests += scene.ask("/a");
  const auto connections = [&] { return scene.proxy.metric("hearsay_connections"); };
  std::thread sending([&] {
    while (scene.client.send(requests)) continue;
  });
  EXPECT_TRUE(await([&] { return connections() == 1; }));  // that of the page alone
  sending.join();
}

}  // namespace
}  // namespace scenario
