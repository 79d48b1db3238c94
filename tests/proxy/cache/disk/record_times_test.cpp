#include "proxy/cache/disk/catalog/record_times.hpp"

#include <gtest/gtest.h>

namespace proxy::cache::disk {
namespace {

using namespace std::chrono_literals;

Position at(std::uint32_t offset) {
  return {7, offset};
}

TEST(RecordTimes, AreThoseOfTheClockUntilWallTimeSteps) {
  RecordTimes times;
  EXPECT_EQ(times.append(at(32)), 0ms);
  EXPECT_EQ(times.ahead(at(32)), 0ms);
  EXPECT_EQ(times.ahead({1, 32}), 0ms);
}

TEST(RecordTimes, AreAheadAsWallTimeWasWhenEachWasWritten) {
  RecordTimes times;
  EXPECT_EQ(times.append(at(32)), 0ms);
  times.follow(-1h);
  EXPECT_EQ(times.append(at(64)), -1h);
  EXPECT_EQ(times.append(at(96)), -1h);
  times.follow(0ms);
  EXPECT_EQ(times.append(at(128)), 0ms);
  times.follow(2h);
  EXPECT_EQ(times.append(at(160)), 2h);
  EXPECT_EQ(times.ahead(at(32)), 0ms);
  EXPECT_EQ(times.ahead(at(64)), -1h);
  EXPECT_EQ(times.ahead(at(96)), -1h);
  EXPECT_EQ(times.ahead(at(128)), 0ms);
  EXPECT_EQ(times.ahead(at(160)), 2h);
}

TEST(RecordTimes, MakeRecordsOfEarlierRunsOlderAndNeverYounger) {
  RecordTimes times;
  times.append(at(32));
  EXPECT_EQ(times.follow(3h), 3h);
  EXPECT_EQ(times.ahead({1, 32}), 3h) << "this run began with a clock that was behind";
  EXPECT_EQ(times.follow(-1h), -3h);
  EXPECT_EQ(times.ahead({1, 32}), 0h);
  EXPECT_EQ(times.follow(-2h), 0h);
  EXPECT_TRUE(times.is_earlier({1, 32}));
  EXPECT_FALSE(times.is_earlier(at(32)));
}

TEST(RecordTimes, ForgetARecordThatCouldNotBeWritten) {
  RecordTimes times;
  times.append(at(32));
  times.follow(1h);
  times.append(at(64));
  times.follow(2h);
  EXPECT_EQ(times.append(at(64)), 2h);
  EXPECT_EQ(times.ahead(at(64)), 2h);
}

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
