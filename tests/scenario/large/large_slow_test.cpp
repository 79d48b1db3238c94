// Large objects of origins that limit the rate of each connection. HEARSAY_BYTES, HEARSAY_RATE
// (bytes per second) and HEARSAY_DELAY (milliseconds) replace the usual numbers.
#include <gtest/gtest.h>

#include "tests/scenario/large/large_scene.hpp"

namespace scenario {
namespace {

struct SlowScene : LargeScene {
  SlowScene(std::uint64_t bytes, std::uint64_t usual_rate) : LargeScene(bytes) {
    const auto rate = setting("HEARSAY_RATE", usual_rate);
    const std::chrono::milliseconds delay(setting("HEARSAY_DELAY", 0));
    origin.on("/a", [this, rate, delay](const Request& request) {
      return answer(request).slow(delay, rate);
    });
  }
  // Gets the range, and returns the seconds taken.
  double timed(const std::string& range) {
    const auto begun = std::chrono::steady_clock::now();
    const Response response = get(range);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    if (range.empty()) {
      expect_whole(response);
    } else {
      expect_part(response, {0, size - 1});
    }
    testing::Test::RecordProperty("seconds", std::to_string(took.count()));
    return took.count();
  }
};

TEST(LargeSlow, AReaderThatWaitsForItsOriginGetsASecondConnection) {
  for (const std::string range : {"", "0-"}) {
    SlowScene scene(setting("HEARSAY_BYTES", 18 * kMiB), 5 * kMiB);
    const auto took = scene.timed(range);
    std::printf("%.2f s\n", took);
    if (std::getenv("HEARSAY_BYTES")) continue;
    ASSERT_EQ(scene.origin.count(), 2U);
    const auto second = scene.span_of(scene.asked().back());
    EXPECT_GE(second.first, 10 * kMiB) << "what is near comes by the first";
    EXPECT_EQ(second.second, 18 * kMiB - 1);
    EXPECT_TRUE(is_hit(scene.get()));
  }
}

TEST(LargeSlow, TheNextRunBeginsInTheMiddleOfTheOneBefore) {
  LargeScene scene(28 * kMiB);
  scene.get("0-1048575");
  std::atomic<std::uint64_t> sent_by_then = 0;
  scene.origin.on("/a", [&](const Request& request) {
    if (request.field("Range") == "bytes=17825792-29360127") {
      sent_by_then = scene.origin.body_bytes_sent();
    }
    return scene.answer(request).slow({}, 10 * kMiB);
  });
  scene.expect_whole(scene.get());
  EXPECT_LT(sent_by_then, 14 * kMiB) << "of the 17 before";
  EXPECT_GT(sent_by_then, 8 * kMiB);
}

TEST(LargeSlow, AnObjectWithoutASecondConnectionContinuesOnTheFirst) {
  LargeScene scene(18 * kMiB);
  scene.origin.on("/a", [&](const Request& request) {
    if (scene.origin.open_connections() > 1) return Reply(503);
    return scene.answer(request).slow({}, 5 * kMiB);
  });
  scene.expect_whole(scene.get());
}

TEST(LargeSlow, AnObjectWhoseSecondConnectionBreaksContinuesOnTheFirst) {
  for (const bool at_once : {true, false}) {
    LargeScene scene(18 * kMiB);
    scene.origin.on("/a", [&](const Request& request) {
      if (scene.origin.open_connections() == 1) return scene.answer(request).slow({}, 5 * kMiB);
      if (at_once) return Reply::hang_up();
      const auto [first, last] = scene.span_of(request.field("Range"));
      const auto text = "bytes " + std::to_string(first) + '-' + std::to_string(last) + '/' +
                        std::to_string(scene.size);
      Reply cut = scene.described(Reply(206, {{"Content-Range", text}}));
      return cut.sized(last - first + 1).send(pattern(first, 100'000)).cut();
    });
    scene.expect_whole(scene.get());
    EXPECT_GT(scene.origin.count(), 1U);
  }
}

TEST(LargeSlow, AReaderKeptBusyGetsNoSecondConnection) {
  LargeScene scene(24 * kMiB);
  Client client(scene.proxy().port());
  client.send(request_text("GET", scene.origin.url("/a")));
  Response whole = client.read_head();
  client.read_rest(whole);
  scene.expect_whole(whole);
  EXPECT_EQ(scene.origin.count(), 1U);
}

}  // namespace
}  // namespace scenario
