#include "proxy/cache/disk/segments.hpp"

#include <gtest/gtest.h>

namespace proxy::cache::disk {
namespace {

using namespace std::chrono_literals;

constexpr RecordTimes::Time kStart{std::chrono::hours(1'000'000)};
constexpr SegmentTimes kEarlier{};
constexpr std::uint32_t kUs = 77;

constexpr SegmentTimes ours(std::chrono::milliseconds ahead) {
  return {.earlier_until = 0, .ahead = ahead};
}

TEST(RecordTimes, AreAheadAsWallTimeWasWhenTheSegmentWasBegun) {
  RecordTimes times(kStart, kUs);
  EXPECT_EQ(times.mark(), (ClockMark{kUs, 0ms}));
  times.apply(-1h);
  EXPECT_EQ(times.mark(), (ClockMark{kUs, -1h}));
  EXPECT_EQ(times.ahead(ours(0ms), 32), 0ms);
  EXPECT_EQ(times.ahead(ours(-1h), 32), -1h);
}

TEST(RecordTimes, NeedAnotherSegmentAfterAStepOfASecond) {
  RecordTimes times(kStart, kUs);
  times.apply(1h);
  EXPECT_TRUE(times.has_stepped_since(0ms));
  EXPECT_FALSE(times.has_stepped_since(1h - 999ms));
  EXPECT_TRUE(times.has_stepped_since(1h - 1s));
  EXPECT_TRUE(times.has_stepped_since(1h + 1s));
}

TEST(RecordTimes, MakeRecordsOfEarlierRunsOlderAndNeverYounger) {
  RecordTimes times(kStart, kUs);
  EXPECT_EQ(times.apply(3h), 3h);
  EXPECT_EQ(times.ahead(kEarlier, 32), 3h) << "this run began with a clock that was behind";
  EXPECT_EQ(times.apply(-1h), -3h);
  EXPECT_EQ(times.ahead(kEarlier, 32), 0h);
  EXPECT_EQ(times.apply(-2h), 0h);
}

// A clock that was set back while no program ran: nobody knows by how much.
TEST(RecordTimes, OfTheFutureAreTheOldest) {
  RecordTimes times(kStart, kUs);
  const auto read = [&](std::chrono::milliseconds after_start, const SegmentTimes& of) {
    const auto time = (kStart + after_start).time_since_epoch() / 1ms;
    RecordHeader record{.response_time = time};
    times.to_clock(record, of);
    return record.response_time == 1
               ? -1ms
               : std::chrono::milliseconds(record.response_time) - kStart.time_since_epoch();
  };
  EXPECT_EQ(read(-1s, kEarlier), -1s);
  EXPECT_EQ(read(500ms, kEarlier), 500ms);
  EXPECT_EQ(read(2s, kEarlier), -1ms) << "the oldest";
  EXPECT_EQ(read(2s, ours(0ms)), 2s);
  times.apply(3h);
  EXPECT_EQ(read(2s, kEarlier), 2s - 3h);
}

struct Mark {
  std::uint32_t run;
  std::chrono::milliseconds ahead;
};
struct RunsCase {
  const char* name;
  std::vector<Mark> log;                                  // of the segments, oldest first
  std::vector<std::chrono::milliseconds> ahead_of_clock;  // of their records
};

class TimesOfEarlierRuns : public testing::TestWithParam<RunsCase> {};

TEST_P(TimesOfEarlierRuns, FollowTheStepsThatTheMarksTell) {
  const auto& [name, log, ahead] = GetParam();
  TimesOfRuns times(kUs);
  for (std::size_t i = log.size(); i-- > 0;) {
    const auto of = times.next({log[i].run, log[i].ahead});
    EXPECT_EQ(of.ahead, ahead[i]) << i;
    EXPECT_EQ(of.earlier(32), log[i].run != kUs) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, TimesOfEarlierRuns,
    testing::Values(
        RunsCase{"NoStep", {{1, 0ms}, {2, 0ms}}, {0ms, 0ms}},
        RunsCase{"AStepBack", {{1, 0ms}, {1, -1h}}, {1h, 0ms}},
        RunsCase{"AStepAhead", {{1, 0ms}, {1, 1h}}, {-1h, 0ms}},
        RunsCase{"AStepUndone", {{1, 0ms}, {1, 24h}, {1, 0ms}}, {0ms, 24h, 0ms}},
        RunsCase{"ALaterRunsStepBack", {{1, 0ms}, {2, 0ms}, {2, -1h}}, {1h, 1h, 0ms}},
        RunsCase{"ALaterRunsStepAhead", {{1, 0ms}, {2, 0ms}, {2, 1h}}, {0ms, -1h, 0ms}},
        RunsCase{
            "StepsBackOfTwoRuns", {{1, 0ms}, {2, -1h}, {3, -2h}, {4, 0ms}}, {3h, 2h, 0ms, 0ms}},
        RunsCase{"EarlierPrograms", {{0, 0ms}, {0, 0ms}, {1, -1h}, {2, 0ms}}, {1h, 1h, 0ms, 0ms}},
        RunsCase{"OurOwn", {{1, 0ms}, {kUs, 0ms}, {kUs, -1h}}, {0ms, 0ms, -1h}}),
    [](const auto& tested) { return tested.param.name; });

TEST(RecordTimes, MoveOnlyTheTimesThatARecordHas) {
  RecordHeader record{.claimable_until = 7200, .response_time = 3'600'000};
  shift_times(record, -30min);
  EXPECT_EQ(record.response_time, 1'800'000);
  EXPECT_EQ(record.claimable_until, 5400U);
  shift_times(record, 30min);
  EXPECT_EQ(record.response_time, 3'600'000);
  EXPECT_EQ(record.claimable_until, 7200U);
  shift_times(record, -100h);
  EXPECT_EQ(record.response_time, 1);
  EXPECT_EQ(record.claimable_until, 1U);
  RecordHeader none;
  shift_times(none, 1h);
  EXPECT_EQ(none, RecordHeader{});
}

}  // namespace
}  // namespace proxy::cache::disk
