// Times on disk over steps of wall time and several runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "scene.hpp"
#include "tests/support/await.hpp"

namespace proxy::cache::disk {
namespace {

using support::await;
using support::TemporaryDirectory;

class WallTime : public testing::Test {
 protected:
  static constexpr std::int64_t kHour = 3'600'000;

  WallTime() { begin(); }
  void begin() { scene_.emplace(directory_.path()); }
  // Stores a response that came an hour ago by the program's clock.
  void store(std::uint64_t number) {
    NewRecord record = response(url_number(number), "body");
    record.header.response_time = hour_ago_;
    record.header.claimable_until = until_;
    ASSERT_TRUE(scene()->append(std::move(record)));
  }
  // By how much later than an hour before the first start a stored response seems to have come.
  std::int64_t later(std::uint64_t number) {
    const Key key = key_for(url_number(number));
    const auto place = (*scene())->find(key, url_number(number));
    const auto stored = (*scene())->open(key, *place, Wait::yes);
    if (place->claimable_until != 0) {
      EXPECT_EQ((place->claimable_until - std::int64_t{until_}) * 1000,
                stored->header().response_time - hour_ago_);
    }
    return stored->header().response_time - hour_ago_;
  }
  std::int64_t now() const { return hour_ago_ + kHour; }
  std::optional<Scene>& scene() { return scene_; }
  void restart() {
    scene_.reset();
    begin();
  }
  std::size_t segments() const {
    std::size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator(directory_.path())) {
      count += file.path().extension() == ".segment" ? 1 : 0;
    }
    return count;
  }
  // How far ahead wall time is by the newest segment.
  std::chrono::milliseconds marked() const {
    std::filesystem::path newest;
    for (const auto& file : std::filesystem::directory_iterator(directory_.path())) {
      if (file.path().extension() == ".segment") newest = std::max(newest, file.path());
    }
    std::array<std::uint8_t, kSegmentHeaderBytes> header{};
    std::ifstream(newest, std::ios::binary)
        .read(reinterpret_cast<char*>(header.data()), header.size());
    return clock_mark(header).ahead;
  }

 private:
  const TemporaryDirectory directory_;
  const std::int64_t hour_ago_ =
      std::chrono::system_clock::now().time_since_epoch() / std::chrono::milliseconds(1) - kHour;
  const std::uint32_t until_ = static_cast<std::uint32_t>(hour_ago_ / 1000) + 100'000;
  std::optional<Scene> scene_;
};

TEST_F(WallTime, ThatSteppedIsFollowedByTheNextRun) {
  store(1);
  (*scene())->catalog().apply_clock(std::chrono::minutes(-30));
  store(2);
  EXPECT_EQ(later(1), 0);
  EXPECT_EQ(later(2), 0);
  for (int starts = 0; starts < 2; ++starts) {
    restart();
    EXPECT_EQ(later(1), -kHour / 2);
    EXPECT_EQ(later(2), -kHour / 2);
  }
}

TEST_F(WallTime, ThatSteppedIsFollowedThoughNothingWasStoredSince) {
  store(1);
  (*scene())->catalog().apply_clock(std::chrono::minutes(-30));
  EXPECT_TRUE(await([&] { return segments() == 2; }));
  for (int starts = 0; starts < 2; ++starts) {
    restart();
    EXPECT_EQ(later(1), -kHour / 2);
  }
}

TEST_F(WallTime, ThatStepsAgainAndAgainLeavesOneSegmentWithoutRecords) {
  store(1);
  for (int step = 1; step <= 20; ++step) {
    const std::chrono::minutes ahead(step % 2 == 0 ? 30 : -step);
    (*scene())->catalog().apply_clock(ahead);
    EXPECT_TRUE(await([&] { return marked() == ahead; })) << step;
    EXPECT_EQ(segments(), 2U) << step;
  }
  store(2);
  (*scene())->catalog().apply_clock(std::chrono::minutes(-30));
  EXPECT_TRUE(await([&] { return segments() == 3; }));
  EXPECT_EQ(later(2), 0);
  for (int starts = 0; starts < 2; ++starts) {
    restart();
    for (const std::uint64_t number : {1, 2}) EXPECT_EQ(later(number), -kHour / 2) << number;
  }
}

TEST_F(WallTime, ThatSteppedAndWasSetRightLeavesAgesAsTheyWere) {
  store(1);
  (*scene())->catalog().apply_clock(std::chrono::hours(24 * 365));
  store(2);
  (*scene())->catalog().apply_clock(std::chrono::hours(0));
  store(3);
  restart();
  for (const std::uint64_t number : {1, 2, 3}) EXPECT_EQ(later(number), 0) << number;
}

// This run goes on in the segment of the one before.
TEST_F(WallTime, OfARunIsNoFutureInTheSegmentOfTheRunBefore) {
  store(1);
  restart();
  for (const std::int64_t seconds : {5, 100'000}) {
    NewRecord record = response(url_number(2), "body");
    record.header.response_time = now() + seconds * 1000;
    ASSERT_TRUE(scene()->append(record));
    EXPECT_EQ(later(2), seconds * 1000 + kHour);
  }
  EXPECT_EQ(segments(), 1U);
}

TEST_F(WallTime, ThatWasSetRightIsKnownThoughNothingWasStoredSince) {
  (*scene())->catalog().apply_clock(std::chrono::hours(1));
  store(1);
  const auto before = segments();
  (*scene())->catalog().apply_clock(std::chrono::hours(0));
  EXPECT_TRUE(await([&] { return segments() == before + 1; }));
  for (int starts = 0; starts < 3; ++starts) {
    EXPECT_EQ(later(1), 0) << starts;
    restart();
  }
}

// The run begins with a clock that is behind, or ahead.
TEST_F(WallTime, OfAnotherRunMakesRecordsOlderAndNotYounger) {
  store(1);
  restart();
  (*scene())->catalog().apply_clock(std::chrono::minutes(30));
  EXPECT_EQ(later(1), -kHour / 2);
  (*scene())->catalog().apply_clock(std::chrono::minutes(-30));
  EXPECT_EQ(later(1), 0);
}

}  // namespace
}  // namespace proxy::cache::disk
