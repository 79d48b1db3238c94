#include "config/weekly_time.hpp"

#include <gtest/gtest.h>

#include <string>

namespace config {
namespace {

constexpr unsigned kMon = 0, kTue = 1, kFri = 4, kSat = 5, kSun = 6;

struct Hour {
  std::string_view time;
  unsigned day, hour, minute;
  bool inside;
};

TEST(WeeklyTime, ContainsTheMinutesFromItsBeginToItsEnd) {
  const Hour cases[] = {
      {"mon-fri 08:00-18:00", kMon, 7, 59, false},
      {"mon-fri 08:00-18:00", kMon, 8, 0, true},
      {"mon-fri 08:00-18:00", kFri, 17, 59, true},
      {"mon-fri 08:00-18:00", kFri, 18, 0, false},
      {"mon-fri 08:00-18:00", kSat, 9, 0, false},
      {"sat,sun", kSat, 0, 0, true},
      {"sat,sun", kSun, 23, 59, true},
      {"sat,sun", kMon, 0, 0, false},
      {"sat-mon", kSun, 1, 0, true},
      {"sat-mon", kMon, 1, 0, true},
      {"sat-mon", kTue, 1, 0, false},
      {"00:00-24:00", kTue, 23, 59, true},
      {"12:00-24:00", kTue, 23, 59, true},
      {"12:00-24:00", kTue, 0, 0, false},
  };
  for (const auto& [time, day, hour, minute, inside] : cases) {
    const auto parsed = parse_weekly_time(time);
    ASSERT_TRUE(parsed) << time;
    EXPECT_EQ(parsed->contains(day, hour * 60 + minute), inside)
        << time << ' ' << day << ' ' << hour << ':' << minute;
  }
}

TEST(WeeklyTime, OverMidnightBelongsToTheDayOnWhichItBegan) {
  const Hour cases[] = {
      {"22:00-06:00", kMon, 23, 0, true},      {"22:00-06:00", kMon, 5, 59, true},
      {"22:00-06:00", kMon, 6, 0, false},      {"22:00-06:00", kMon, 21, 59, false},
      {"fri 22:00-06:00", kFri, 22, 0, true},  {"fri 22:00-06:00", kSat, 5, 59, true},
      {"fri 22:00-06:00", kFri, 5, 59, false}, {"fri 22:00-06:00", kSat, 22, 0, false},
      {"sun 22:00-06:00", kMon, 1, 0, true},   {"sun 22:00-06:00", kSun, 1, 0, false},
      {"fri 22:00-00:00", kFri, 23, 59, true}, {"fri 22:00-00:00", kSat, 0, 0, false},
  };
  for (const auto& [time, day, hour, minute, inside] : cases) {
    const auto parsed = parse_weekly_time(time);
    ASSERT_TRUE(parsed) << time;
    EXPECT_EQ(parsed->contains(day, hour * 60 + minute), inside)
        << time << ' ' << day << ' ' << hour << ':' << minute;
  }
}

TEST(WeeklyTime, IsRefusedWhereItsMeaningIsDoubtful) {
  for (const std::string_view text : {"",
                                      " ",
                                      "monday",
                                      "mon fri",
                                      "mon-",
                                      "-fri",
                                      "mon,,tue",
                                      "mon,",
                                      "8:00-18:00",
                                      "08:00-18:00 mon",
                                      "08:00",
                                      "08:00-",
                                      "08:00-25:00",
                                      "08:00-24:01",
                                      "24:00-06:00",
                                      "08:60-09:00",
                                      "08:00-08:00",
                                      "08.00-18.00",
                                      "mon  08:00-18:00",
                                      "mon 08:00-18:00 ",
                                      "mon 08:00 - 18:00",
                                      "+8:00-18:00",
                                      "mon-fri "}) {
    EXPECT_FALSE(parse_weekly_time(text)) << '"' << text << '"';
  }
  EXPECT_EQ(parse_weekly_time("Mon-FRI 08:00-18:00"), parse_weekly_time("mon-fri 08:00-18:00"));
}

}  // namespace
}  // namespace config
