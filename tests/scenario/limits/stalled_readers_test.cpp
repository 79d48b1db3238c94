// Crowds of clients that do not read their responses, and another client beside them.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/scenario/limits/crowd_scene.hpp"

namespace scenario {
namespace {

// A body that the origin sends for as long as somebody takes it.
Reply large(std::size_t bytes, const std::string& cache_control) {
  return Reply::endless("HTTP/1.1 200 OK\r\nCache-Control: " + cache_control +
                            "\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n",
                        std::string(65536, 'x'));
}

struct StalledScene : Scene {
  StalledScene(const char* memory, std::size_t bytes, const std::string& cache_control)
      : Scene(json{{"cache", {{"memory", memory}}}}), other(proxy.port(), kOther) {
    const Reply body = large(bytes, cache_control);
    origin.otherwise([body](const Request&) { return body; });
    origin.on("/small", Reply(200, {{"Cache-Control", "no-store"}}).body("hello"));
    origin.on("/stored", cacheable(std::string(1U << 20, 's')));
  }
  // So many more clients of 127.0.0.1, which all ask and do not read.
  void gather(std::size_t clients, const std::string& path = "/large/") {
    const auto before = crowd.size();
    for (auto i = before; i < before + clients; ++i) {
      crowd.push_back(std::make_unique<Client>(proxy.port()));
      crowd.back()->send(request_text("GET", origin.url(path + std::to_string(i))));
    }
  }

  std::vector<std::unique_ptr<Client>> crowd;
  Client other;
};

TEST(StalledReaders, CostOtherClientsNoMiss) {
  for (const char* cache_control : {"no-store", "max-age=3600"}) {
    StalledScene scene("16MiB", 20U << 20, cache_control);
    for (int round = 0; round < 4; ++round) {
      scene.gather(50);
      for (int i = 0; i < 10; ++i) {
        const Response response = scene.other.get(scene.origin.url("/small"));
        ASSERT_EQ(response.status, 200) << cache_control << ' ' << response.field("Cache-Status");
      }
    }
    // The limit, half as much again for bodies on their way, and blocks about to be filled.
    EXPECT_LT(scene.proxy.metric("hearsay_memory_used_bytes"), 24 << 20) << cache_control;
  }
}

TEST(StalledReaders, AreCutThoseOfTheGreedyClientAloneAndLogged) {
  StalledScene scene("16MiB", 20U << 20, "no-store");
  scene.gather(150);
  const Response large = scene.other.get(scene.origin.url("/large/of-another"));
  EXPECT_TRUE(large.whole) << large.body.size();
  ASSERT_TRUE(await([&] {
    scene.other.get(scene.origin.url("/small"));
    return scene.proxy.metric("hearsay_cuts_total{why=\"stalled\"}") > 0;
  }));
  std::size_t cut = 0;
  EXPECT_TRUE(await([&] {
    cut = 0;
    for (const auto& line : scene.proxy.access_log()) {
      if (!line.result.ends_with("_ABORTED_STALLED")) continue;
      EXPECT_EQ(line.client, "127.0.0.1") << line.url;
      ++cut;
    }
    return cut > 0;
  }));
}

// A large body, of which a byte comes now and then.
class Drip {
 public:
  Reply reply() const {
    Reply reply = Reply(200, {{"Cache-Control", "no-store"}}).sized(20U << 20).start();
    for (const auto& gate : gates_) reply.wait(gate).send("x");
    return reply;
  }

 private:
  std::vector<Gate> gates_ = std::vector<Gate>(1000);
  std::jthread drop_{[this](const std::stop_token& stop) {
    for (auto gate = gates_.begin(); gate != gates_.end() && !stop.stop_requested(); ++gate) {
      gate->open();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }};
};

// An origin that the crowd chose sends the heads of large bodies, and then next to nothing. Each
// such body has a block of memory for the bytes that are to come.
struct SilentScene : StalledScene {
  explicit SilentScene(const Reply& silent) : StalledScene("8MiB", 0, "") {
    origin.otherwise([silent](const Request&) { return silent; });
    gather(300, "/silent/");
  }
  void expect_no_miss_refused() {
    EXPECT_TRUE(await([&] {
      const Response response = other.get(origin.url("/small"));
      EXPECT_EQ(response.status, 200) << response.field("Cache-Status");
      return proxy.metric("hearsay_cuts_total{why=\"stalled\"}") > 0;
    }));
    for (int i = 0; i < 10; ++i) EXPECT_EQ(other.get(origin.url("/small")).status, 200);
  }
};

TEST(SilentSources, CostOtherClientsNoMiss) {
  SilentScene scene(
      Reply(200, {{"Cache-Control", "no-store"}}).sized(20U << 20).start().wait(Gate()));
  scene.expect_no_miss_refused();
}

TEST(SilentSources, ThatSendAByteNowAndThenCostOtherClientsNoMiss) {
  const Drip drip;
  SilentScene scene(drip.reply());
  scene.expect_no_miss_refused();
}

// The crowd's bodies fill the memory for stored responses.
TEST(StalledReaders, GiveTheCacheBackItsMemory) {
  StalledScene scene("128MiB", 15U << 20, "max-age=3600");
  scene.gather(60);
  ASSERT_TRUE(scene.origin.await_requests("/large/59", 1));
  await_halt([&] { return scene.proxy.metric("hearsay_memory_used_bytes"); });
  EXPECT_TRUE(await(
      [&] {
        scene.other.get(scene.origin.url("/stored"));
        return is_hit(scene.other.get(scene.origin.url("/stored")));
      },
      3 * kPatience));
}

}  // namespace
}  // namespace scenario
