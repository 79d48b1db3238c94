#include "proxy/cache/disk/pace.hpp"

#include <gtest/gtest.h>

namespace proxy::cache::disk {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

struct Writes {
  int count;
  std::uint64_t bytes;
  std::chrono::microseconds each;
};

struct PaceCase {
  const char* what;
  std::vector<Writes> writes;
  std::uint64_t least;  // MiB a second, at its end
  std::uint64_t most;
};

constexpr Writes kFastOnes{20, kMiB, 1'000us};
constexpr Writes kSlowOnes{20, kMiB, 1'000'000us};

TEST(WritePace, IsThatOfTheLastMeaningfulWrites) {
  const PaceCase cases[] = {
      {"not known yet", {}, 1'000'000, 10'000'000},
      {"of a fast disk", {kFastOnes}, 900, 1'024},
      {"of a slow one", {kSlowOnes}, 1, 1},
      {"soon slow", {kFastOnes, {4, kMiB, 1'000'000us}}, 1, 1},
      {"soon fast again", {kSlowOnes, {25, kMiB, 1'000us}}, 100, 1'000},
      {"one hiccup", {kFastOnes, {1, kMiB, 500'000us}, {1, kMiB, 1'000us}}, 8, 1'000},
      {"a wake-up for each of a few bytes", {kFastOnes, {100'000, 300, 60us}}, 900, 1'024},
      {"heads that move for each", {kFastOnes, {10'000, 4'096, 12'000us}}, 900, 1'024},
      {"few, but fast enough to show", {kSlowOnes, {10'000, 4'096, 60us}}, 60, 70},
      {"few after slow ones, slower yet", {kSlowOnes, {100, 4'096, 20'000us}}, 1, 1},
      {"few that take very long", {kFastOnes, {1, 300, 5'000'000us}}, 0, 0},
      {"nothing, in no time", {kSlowOnes, {1'000, kMiB, 0us}, {9, 0, 0us}}, 1'000, 10'000'000},
  };
  for (const PaceCase& each : cases) {
    WritePace pace;
    for (const Writes& writes : each.writes) {
      for (int i = 0; i < writes.count; ++i) pace.record(writes.bytes, writes.each);
    }
    EXPECT_GE((pace.bytes_in(1s) + kMiB / 10) / kMiB, each.least) << each.what;
    EXPECT_LE(pace.bytes_in(1s) / kMiB, each.most) << each.what;
  }
}

TEST(WritePace, SaysHowMuchIsWrittenInATime) {
  WritePace pace;
  for (int i = 0; i < 100; ++i) pace.record(kMiB, 500ms);
  EXPECT_NEAR(static_cast<double>(pace.bytes_in(250ms)), kMiB / 2.0, 10.0);
  EXPECT_EQ(pace.bytes_in(0ms), 0U);
}

// Steps, rests and the watch of the writer go by a clock that stands until a test lets time pass.
struct StandingClock : testing::Test {
  machine::Clock clock{machine::Clock::Time(1000h)};
};

TEST_F(StandingClock, EndsAStepAfterItsReadsOrItsTime) {
  struct Case {
    const char* what;
    std::size_t most;
    std::chrono::milliseconds each;
    std::size_t reads;
  };
  const Case cases[] = {
      {"many quick reads", 1000, 0ms, Step::kEntries},
      {"few may be read", 3, 1ms, 3},
      {"slow reads", 1000, 30ms, 4},
      {"a read that takes all the time", 1000, 200ms, 1},
      {"none may be read", 0, 0ms, 0},
  };
  for (const Case& each : cases) {
    std::size_t reads = 0;
    for (Step step(clock, each.most); step.goes_on(); ++reads) clock.pass(each.each);
    EXPECT_EQ(reads, each.reads) << each.what;
  }
}

TEST_F(StandingClock, DoublesEachRestUpToTheLongestUntilAWriteWorks) {
  Backoff backoff(10ms, 35ms);
  EXPECT_LE(backoff.left(clock.steady()), 0ms) << "no rest has begun";
  for (const auto expected : {10ms, 20ms, 35ms, 35ms}) {
    backoff.rest(clock.steady());
    EXPECT_EQ(backoff.left(clock.steady()), expected);
    clock.pass(expected);
    EXPECT_LE(backoff.left(clock.steady()), 0ms);
  }
  backoff.reset();
  backoff.rest(clock.steady());
  EXPECT_EQ(backoff.left(clock.steady()), 10ms);
}

TEST_F(StandingClock, ShowsAWriterThatHangs) {
  WriterWatch watch(clock, 2s);
  watch.begin_start();
  clock.pass(1999ms);
  EXPECT_FALSE(watch.hangs());
  clock.pass(1ms);
  EXPECT_EQ(watch.state().reason, Error::hangs) << "the start takes too long";
  watch.work();
  watch.end_start();
  EXPECT_TRUE(watch.state().working);
  clock.pass(1h);
  EXPECT_EQ(watch.in_step(), 0s) << "it waits for work";
  watch.begin_step();
  clock.pass(9s);
  EXPECT_TRUE(watch.state().working);
  clock.pass(1s);
  EXPECT_TRUE(watch.hangs());
  EXPECT_FALSE(watch.state().working);
  EXPECT_TRUE(watch.working()) << "it only hangs";
  watch.rest(Error::no_space);
  EXPECT_EQ(watch.state().reason, Error::no_space) << "a disk that rests is said to rest";
}

}  // namespace
}  // namespace proxy::cache::disk
