// limits.bandwidth and limits.bandwidth_per_client.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr double kMiB = 1 << 20;

struct Limited : Scene {
  explicit Limited(const json& limits, json settings = json::object())
      : Scene(with_limits(limits, std::move(settings))) {
    origin.on("/large", cacheable(std::string(8U << 20, 'x')));
    origin.on("/small", cacheable("hello"));
  }
  static json with_limits(const json& limits, json settings = json::object()) {
    settings["limits"] = limits;
    return settings;
  }
};

// A connection of 127.0.0.`from` that reads large responses for as long as it lives.
class Reader {
 public:
  Reader(const Limited& scene, int from)
      : client_(scene.proxy.port(), static_cast<std::uint8_t>(from)),
        url_(scene.origin.url("/large")),
        thread_([this] {
          try {
            while (!ends_) read_one();
          } catch (const std::exception&) {  // left in a read
          }
        }) {}
  ~Reader() {
    ends_ = true;
    client_.leave();
    thread_.join();
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  std::uint64_t bytes() const { return bytes_; }

 private:
  void read_one() {
    client_.send(request_text("GET", url_));
    client_.read_head();
    for (std::string read; !ends_ && !(read = client_.read_body(4096)).empty();) {
      bytes_ += read.size();
    }
  }

  Client client_;
  const std::string url_;
  std::atomic<bool> ends_{false};
  std::atomic<std::uint64_t> bytes_{0};
  std::thread thread_;
};

// What each reader gets per second, on the average over some seconds.
template <class Readers>
std::vector<double> rates_of(const Readers& readers) {
  std::this_thread::sleep_for(500ms);  // what was saved up is gone by then
  std::vector<double> rates;
  for (const auto& reader : readers) rates.push_back(-static_cast<double>(reader->bytes()));
  const auto begin = Clock::now();
  std::this_thread::sleep_for(3s);
  const std::chrono::duration<double> took = Clock::now() - begin;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    rates[i] = (rates[i] + static_cast<double>(readers[i]->bytes())) / took.count();
  }
  return rates;
}

TEST(Bandwidth, IsSharedEquallyByClientsHoweverManyConnectionsTheyHave) {
  const Limited scene(json{{"bandwidth", "4MiB"}});
  std::vector<std::unique_ptr<Reader>> readers;
  for (const int from : {1, 2, 2}) readers.push_back(std::make_unique<Reader>(scene, from));
  const auto rates = rates_of(readers);
  const double all = rates[0] + rates[1] + rates[2];
  EXPECT_NEAR(all, 4 * kMiB, 0.1 * 4 * kMiB);
  EXPECT_NEAR(rates[0], all / 2, 0.15 * all / 2);
  EXPECT_NEAR(rates[1], rates[2], 0.3 * rates[1]) << "and by the connections of one client";
}

TEST(Bandwidth, OfEachClientIsItsOwn) {
  const Limited scene(json{{"bandwidth_per_client", "1MiB"}});
  std::vector<std::unique_ptr<Reader>> readers;
  for (const int from : {1, 2, 2}) readers.push_back(std::make_unique<Reader>(scene, from));
  const auto rates = rates_of(readers);
  EXPECT_NEAR(rates[0], kMiB, 0.1 * kMiB);
  EXPECT_NEAR(rates[1] + rates[2], kMiB, 0.1 * kMiB);
}

TEST(Bandwidth, LimitsTunnelsAndNotOurOwnPages) {
  Limited scene(json{{"bandwidth_per_client", "64KiB"}});
  const auto port = scene.origin.port();
  scene.proxy.reload(Limited::with_limits({{"bandwidth_per_client", "64KiB"}},
                                          json{{"access", {{"connect_ports", {port}}}}}));
  const auto host = "127.0.0.1:" + std::to_string(port);
  scene.client.send("CONNECT " + host + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
  ASSERT_EQ(scene.client.read("CONNECT").status, 200);
  scene.client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  scene.client.read_head();
  const auto begin = Clock::now();
  scene.client.read_body(96 << 10);
  EXPECT_GT(Clock::now() - begin, 700ms);

  const auto page_begin = Clock::now();
  for (int i = 0; i < 20; ++i) EXPECT_GT(scene.proxy.page("/metrics").body.size(), 5000U);
  EXPECT_LT(Clock::now() - page_begin, 1s) << "100 KiB and more";
}

// Not by the time-out for bodies, although the limit allows a write four times in a second.
TEST(Bandwidth, CutsNoResponseThatWaitsForIt) {
  Limited scene(json{{"bandwidth_per_client", "16KiB"}}, json{{"timeouts", {{"body", "100ms"}}}});
  const auto body = numbered_bytes(32 << 10);
  scene.origin.on("/passed", Reply(200, {{"Cache-Control", "no-store"}}).body(body));
  EXPECT_EQ(scene.client.get(scene.origin.url("/passed")).body, body);

  const auto host = "127.0.0.1:" + std::to_string(scene.origin.port());
  scene.proxy.reload(
      Limited::with_limits({{"bandwidth_per_client", "16KiB"}},
                           json{{"timeouts", {{"body", "100ms"}}},
                                {"access", {{"connect_ports", {scene.origin.port()}}}}}));
  scene.client.send("CONNECT " + host + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
  ASSERT_EQ(scene.client.read("CONNECT").status, 200);
  scene.client.send("GET /passed HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(scene.client.read().body, body);
}

TEST(Bandwidth, FollowsAReloadWhileAResponseIsSent) {
  Limited scene(json{{"bandwidth", "64KiB"}});
  scene.client.send(request_text("GET", scene.origin.url("/large")));
  Response response = scene.client.read_head();
  EXPECT_EQ(scene.client.read_body(32 << 10).size(), 32U << 10);
  scene.proxy.reload(json::object());
  scene.client.read_rest(response);  // at 64 KiB/s it would take two minutes
  EXPECT_EQ(response.body.size(), (8U << 20) - (32U << 10));
}

TEST(Bandwidth, IsNotSpentOnNeighboursThatAskForWhatIsStored) {
  ScriptedOrigin peer;
  const Limited scene(json{{"bandwidth_per_client", "64KiB"}}, with_peer("b", peer.port()));
  Client neighbour(scene.proxy.port(), 1);
  EXPECT_EQ(neighbour.get(scene.origin.url("/small")).status, 200);
  Client other(scene.proxy.port(), 2);
  other.send(request_text("GET", scene.origin.url("/large")));
  other.read_head();
  const auto begin = Clock::now();
  ASSERT_TRUE(await([&] {
    const auto held =
        neighbour.get(scene.origin.url("/large"), {{"Cache-Control", "only-if-cached"}});
    return held.body.size() == 8U << 20;
  }));
  EXPECT_LT(Clock::now() - begin, 5s);
}

}  // namespace
}  // namespace scenario
