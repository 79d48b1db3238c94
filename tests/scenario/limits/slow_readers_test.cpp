// Readers that are slow but steady: far slower than a send buffer of megabytes becomes free within
// timeouts.body. What they have acknowledged shows that they read.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

#include "tests/scenario/disk/disk_scene.hpp"

namespace scenario {
namespace {

using namespace std::chrono_literals;

constexpr auto kBody = 600ms;  // timeouts.body
constexpr std::size_t kLong = 8U << 20;
constexpr int kLittle = 16 << 10;  // in a receive buffer
constexpr int kMuch = 4 << 20;

// Reads a little now and then for several times timeouts.body, and then all that is left, until
// the end of the body.
std::string read_slowly(Socket& socket, const std::string& body) {
  const auto end = body.substr(body.size() - 32);
  std::string all;
  const auto until = std::chrono::steady_clock::now() + 4 * kBody;
  while (std::chrono::steady_clock::now() < until) {
    all += socket.read_some(2048);
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_LT(all.size(), std::size_t{1} << 20) << "it was slow";
  socket.take_at_most(kMuch);
  for (std::string more = "."; !more.empty() && !all.ends_with(end);) {
    all += more = socket.read_some();
  }
  return all;
}

// What a slow reader gets for these bytes.
std::string answer(const ProxyProcess& proxy, const std::string& request, const std::string& body) {
  Socket socket = Socket::connect(proxy.port());
  socket.take_at_most(kLittle);
  EXPECT_TRUE(socket.write(request));
  return read_slowly(socket, body);
}

void expect_whole(const std::string& got, const std::string& body) {
  EXPECT_TRUE(got.ends_with(body)) << got.size() << " bytes of " << body.size();
}

json brief(json settings = json::object()) {
  settings["timeouts"]["body"] = std::to_string(kBody.count()) + "ms";
  return settings;
}

struct SlowScene : DiskScene {
  explicit SlowScene(const json& settings = json::object()) : DiskScene(brief(settings)) {}

  void expect_whole(const std::string& request, const std::string& body) {
    scenario::expect_whole(answer(proxy(), request, body), body);
  }
  void store(const std::string& path) {
    Client client(proxy().port());
    client.get(origin.url(path));
    settle(1);
    EXPECT_TRUE(is_hit(client.get(origin.url(path))));
  }
  std::string get(const std::string& path) const {
    return request_text("GET", origin.url(path), {{"Connection", "close"}});
  }

  ScriptedOrigin origin;
};

json no_disk() {
  return {{"cache", {{"disk", nullptr}}}};
}

TEST(SlowReaders, GetAHitFromMemoryWhole) {
  SlowScene scene(no_disk());
  const auto body = numbered_bytes(kLong);
  scene.origin.on("/a", cacheable(body));
  Client client(scene.proxy().port());
  client.get(scene.origin.url("/a"));
  scene.expect_whole(scene.get("/a"), body);
  EXPECT_EQ(scene.origin.count("/a"), 1U);
}

TEST(SlowReaders, GetAHitFromItsFileWhole) {
  SlowScene scene;
  const auto body = numbered_bytes(4'000'000);
  scene.origin.on("/a", cacheable(body));
  scene.store("/a");
  scene.expect_whole(scene.get("/a"), body);
  EXPECT_EQ(scene.origin.count("/a"), 1U);
}

TEST(SlowReaders, GetAnObjectWhole) {
  SlowScene scene;
  const auto body = numbered_bytes(kLong);
  scene.origin.on("/a", cacheable(body).with("ETag", "\"e\""));
  scene.store("/a");
  scene.expect_whole(scene.get("/a"), body);
  EXPECT_EQ(scene.origin.count("/a"), 1U);
}

TEST(SlowReaders, GetAMissThatIsStoredWhole) {
  SlowScene scene;
  const auto body = numbered_bytes(kLong);
  scene.origin.on("/a", cacheable(body).with("ETag", "\"e\""));
  scene.expect_whole(scene.get("/a"), body);
}

TEST(SlowReaders, GetABodyThatTheKernelPassesOnWhole) {
  SlowScene scene;
  const auto body = numbered_bytes(kLong);
  scene.origin.on("/a", unstorable().body(body));
  scene.expect_whole(scene.get("/a"), body);
}

TEST(SlowReaders, GetABodyThatPassesThroughMemoryWhole) {
  SlowScene scene;
  const auto body = numbered_bytes(kLong);
  scene.origin.on("/a", unstorable().chunked().send(body));
  const auto request = "GET " + scene.origin.url("/a") + " HTTP/1.0\r\n\r\n";  // so not in chunks
  scene.expect_whole(request, body);
}

TEST(SlowReaders, GetWhatATunnelCarriesWhole) {
  ScriptedOrigin origin;
  const ProxyProcess proxy(brief({{"access", {{"connect_ports", {origin.port()}}}}}));
  const auto body = numbered_bytes(kLong);
  origin.on("/a", Reply(200, {{"Connection", "close"}}).body(body).cut());
  const auto authority = "127.0.0.1:" + std::to_string(origin.port());
  const auto connect = "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n";
  expect_whole(answer(proxy, connect + "GET /a HTTP/1.1\r\nHost: inside\r\n\r\n", body), body);
}

// The origin is the slow reader here.
TEST(SlowReaders, GetAnUploadWhole) {
  SlowScene scene;
  const auto body = numbered_bytes(kLong);
  Listener origin;
  auto reads = std::async(std::launch::async, [&] {
    auto socket = origin.accept();
    return read_slowly(*socket, body);
  });
  Socket client = Socket::connect(scene.proxy().port());
  const auto url = "http://127.0.0.1:" + std::to_string(origin.port()) + "/a";
  const Fields length{{"Content-Length", std::to_string(body.size())}};
  EXPECT_TRUE(client.write(request_text("PUT", url, length) + body));
  expect_whole(reads.get(), body);
}

TEST(SlowReaders, AreCutOnceTheyReadNoMore) {
  SlowScene scene(no_disk());
  scene.origin.on("/a", cacheable(numbered_bytes(kLong)));
  Socket socket = Socket::connect(scene.proxy().port());
  socket.take_at_most(kLittle);
  socket.write(scene.get("/a"));
  socket.read_some(2048);
  EXPECT_TRUE(await([&] { return !scene.proxy().access_log().empty(); }));
  std::size_t got = 0;
  socket.take_at_most(kMuch);
  for (std::string more = "."; !more.empty();) got += (more = socket.read_some()).size();
  EXPECT_LT(got, kLong);
}

}  // namespace
}  // namespace scenario
