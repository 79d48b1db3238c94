// Many clients of one large object. HEARSAY_BYTES, HEARSAY_CLIENTS and HEARSAY_ROUNDS make the test
// larger.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "tests/scenario/large/large_scene.hpp"

namespace scenario {
namespace {

// Sanitizers keep freed memory, so the process's size does not show what the program uses.
const bool kMemoryIsMeasurable = !kSanitized;

// Requests a part and compares it piece by piece, as the test cannot hold gigabytes.
bool gets(LargeScene& scene, Client& client, const Span& span) {
  const auto range = std::to_string(span.first) + '-' + std::to_string(span.second);
  client.send(request_text("GET", scene.origin.url("/a"), {{"Range", "bytes=" + range}}));
  const Response head = client.read_head();
  if (head.status != 206) {
    ADD_FAILURE() << range << ": " << head.start_line << ' ' << head.field("Cache-Status");
    return false;
  }
  for (auto at = span.first; at <= span.second;) {
    const auto size = std::min(kMiB, span.second + 1 - at);
    const auto bytes = client.read_body(size);
    if (bytes != pattern(at, size)) {
      ADD_FAILURE() << range << ": " << bytes.size() << " bytes at " << at << ' '
                    << head.field("Cache-Status");
      return false;
    }
    at += size;
  }
  return client.read_body(1).empty();
}

class Crowd : public testing::Test {
 protected:
  void run_clients(bool cold) {
    LargeScene scene(setting("HEARSAY_BYTES", 64 * kMiB), "32MiB", "4GiB");
    if (!cold) scene.get("0-99999");
    const auto clients = setting("HEARSAY_CLIENTS", 8);
    const auto rounds = setting("HEARSAY_ROUNDS", 6);
    std::atomic<int> wrong = 0;
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < clients; ++i) {
      threads.emplace_back([&scene, &wrong, i, rounds] {
        std::mt19937_64 random(i);
        Client client(scene.proxy().port());
        for (std::uint64_t round = 0; round < rounds && wrong == 0; ++round) {
          const auto first = random() % scene.size;
          const auto size = 70'000 + random() % (15 * kMiB);
          wrong += !gets(scene, client, {first, std::min(scene.size, first + size) - 1});
        }
      });
    }
    double most = 0;
    std::uint64_t allocated = 0;
    std::jthread watch([&](std::stop_token stop) {
      while (!stop.stop_requested()) {
        most = std::max(most, scene.proxy().metric("hearsay_memory_used_bytes"));
        allocated = std::max(allocated, scene.proxy().anonymous_bytes());
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // a sampling interval
      }
    });
    threads.clear();
    watch.request_stop();
    watch.join();
    EXPECT_EQ(wrong, 0);
    // Blocks that a run ceded to others: requested twice. The origin may have sent a part of one
    // into the sockets' buffers before.
    std::uint64_t left = 0;
    for (const auto& [block, times] : scene.asked_per_block())
      left += static_cast<std::uint64_t>(times - 1);
    EXPECT_LE(left, 4 + scene.size / (100 * kMiB));
    EXPECT_LE(scene.origin.body_bytes_sent(), scene.size + left * kMiB)
        << "each block is sent once";
    EXPECT_LE(most, 32.0 * kMiB);
    if (kMemoryIsMeasurable) {
      EXPECT_LE(allocated, 64 * kMiB);
    }
    RecordProperty("most", std::to_string(most));
    RecordProperty("allocated", std::to_string(allocated));
  }
};

TEST_F(Crowd, MakesTheOriginSendEachBlockOnce) {
  run_clients(false);
}

TEST_F(Crowd, MakesTheOriginSendEachBlockOnceOfAColdObjectToo) {
  run_clients(true);
}

}  // namespace
}  // namespace scenario
