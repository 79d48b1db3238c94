#include "proxy/http/date.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/http/fields_of.hpp"

namespace proxy::http {
namespace {

using namespace std::chrono;

constexpr sys_seconds kNow{seconds(1'700'000'000)};    // 14 Nov 2023
constexpr sys_seconds kExample{seconds(784'111'777)};  // 06 Nov 1994 08:49:37

TEST(Date, AllThreeFormatsAreRead) {  // RFC 9110 5.6.7
  const struct {
    const char* text;
    sys_seconds time;
  } cases[] = {
      {"Sun, 06 Nov 1994 08:49:37 GMT", kExample},
      {"Sunday, 06-Nov-94 08:49:37 GMT", kExample},
      {"Sun Nov  6 08:49:37 1994", kExample},
      {"Sun Nov 06 08:49:37 1994", kExample},
      {"Wed, 06 Nov 1994 08:49:37 GMT", kExample},  // the weekday is not compared
      {"Thu, 01 Jan 1970 00:00:00 GMT", sys_seconds{}},
      // RFC 9111 4.2: a leap second is the nearest earlier time that our clock has.
      {"Sat, 31 Dec 2016 23:59:60 GMT", sys_seconds{seconds(1'483'228'799)}},
      {"Saturday, 31-Dec-16 23:59:60 GMT", sys_seconds{seconds(1'483'228'799)}},
      {"Sat Dec 31 23:59:60 2016", sys_seconds{seconds(1'483'228'799)}},
      {"Thu, 29 Feb 2024 00:00:00 GMT", sys_seconds{seconds(1'709'164'800)}},
      {"Fri, 31 Dec 9999 23:59:59 GMT", sys_seconds{seconds(253'402'300'799)}},
      {"Mon, 01 Jan 0001 00:00:00 GMT", sys_seconds{seconds(-62'135'596'800)}},
  };
  for (const auto& c : cases) EXPECT_EQ(parse_date(c.text, kNow), c.time) << c.text;
}

TEST(Date, IsReadAnewAfterOthers) {
  const auto text = [](int day, int second) {
    return format_date(sys_days{1994y / November / day} + seconds(second));
  };
  for (int round = 0; round < 3; ++round) {
    for (int day = 1; day <= 30; ++day) {
      for (int second = 0; second < 60; ++second) {
        const sys_seconds wanted = sys_days{1994y / November / day} + seconds(second);
        ASSERT_EQ(parse_date(text(day, second), kNow), wanted);
      }
    }
    ASSERT_EQ(parse_date("Sun, 06 Nov 1994 08:49:3x GMT", kNow), std::nullopt);
  }
}

TEST(Date, CaseMeansNothing) {  // RFC 9111 4.2
  for (const char* text : {"Sun, 06 Nov 1994 08:49:37 gmt", "SUN, 06 Nov 1994 08:49:37 GMT",
                           "sun, 06 NOV 1994 08:49:37 gMT", "sunday, 06-nov-94 08:49:37 GMT",
                           "SUN NOV  6 08:49:37 1994"}) {
    EXPECT_EQ(parse_date(text, kNow), kExample) << text;
  }
}

TEST(Date, EverythingElseIsNone) {
  for (const char* wrong : {"",
                            "0",
                            "-1",
                            "Sun",
                            "Sun,",
                            "now",
                            "784111777",
                            "Sun, 06 Nov 94 08:49:37 GMT",
                            "Sun, 6 Nov 1994 08:49:37 GMT",
                            "Sun, 06 Nov 1994 8:49:37 GMT",
                            "Sun, 06 Nov 1994 08:49 GMT",
                            "Sun, 06 Nov 1994 08:49:37",
                            "Sun, 06 Nov 1994 08:49:37 UTC",
                            "Sun, 06 Nov 1994 08:49:37 +0000",
                            "Sun, 06 Nov 1994 08:49:37 GMT ",
                            " Sun, 06 Nov 1994 08:49:37 GMT",
                            "Sun, 06  Nov 1994 08:49:37 GMT",
                            "Sun,06 Nov 1994 08:49:37 GMT",
                            "Sun, 06-Nov-1994 08:49:37 GMT",
                            "Xyz, 06 Nov 1994 08:49:37 GMT",
                            "Sun, 00 Nov 1994 08:49:37 GMT",
                            "Sun, 31 Nov 1994 08:49:37 GMT",
                            "Sun, 29 Feb 2023 08:49:37 GMT",
                            "Sun, 06 Nov 1994 24:00:00 GMT",
                            "Sun, 06 Nov 1994 08:60:37 GMT",
                            "Sun, 06 Nov 1994 08:49:61 GMT",
                            "Sun, 06 Nov 19940 08:49:37 GMT",
                            "Sun, 06 Nov 1994 08.49.37 GMT",
                            "Sunday, 06-Nov-1994 08:49:37 GMT",
                            "Sunday, 06 Nov 94 08:49:37 GMT",
                            "Sunday, 31-Feb-94 08:49:37 GMT",
                            "Sun Nov 6 08:49:37 1994",
                            "Sun Nov  6 08:49:37 94",
                            "Sun Nov  6 08:49:37 1994 GMT",
                            "Sun Nov  0 08:49:37 1994"})
    EXPECT_EQ(parse_date(wrong, kNow), std::nullopt) << wrong;
}

TEST(Date, TwoDigitYearsAreAtMostFiftyAhead) {  // RFC 9110 5.6.7
  const auto year_of = [](const char* text, sys_seconds now) {
    return static_cast<int>(year_month_day(floor<days>(parse_date(text, now).value())).year());
  };
  EXPECT_EQ(year_of("Tuesday, 01-Jan-24 00:00:00 GMT", kNow), 2024);
  EXPECT_EQ(year_of("Tuesday, 01-Jan-73 00:00:00 GMT", kNow), 2073);
  EXPECT_EQ(year_of("Tuesday, 13-Nov-73 00:00:00 GMT", kNow), 2073);
  EXPECT_EQ(year_of("Tuesday, 16-Nov-73 00:00:00 GMT", kNow), 1973);
  EXPECT_EQ(year_of("Tuesday, 01-Jan-74 00:00:00 GMT", kNow), 1974);
  EXPECT_EQ(year_of("Tuesday, 29-Feb-00 00:00:00 GMT", kNow), 2000);
  EXPECT_EQ(year_of("Tuesday, 01-Jan-05 00:00:00 GMT", sys_days(year(2095) / 1 / 1)), 2105);
}

TEST(RetryAfter, IsANumberOrADateThatCountsFromTheSendersOwn) {  // RFC 9110 10.2.3
  const char* const date = "Date: Sun, 06 Nov 1994 08:49:37 GMT";
  const std::pair<const char*, std::optional<int>> cases[] = {
      {"Retry-After: 120", 120},
      {"Retry-After: 0", 0},
      {"Retry-After: 1000000000000", 86'400},
      {"Retry-After: Sun, 06 Nov 1994 08:50:07 GMT", 30},
      {"Retry-After: Sunday, 06-Nov-94 08:50:07 GMT", 30},
      {"Retry-After: Sun, 06 Nov 1994 08:00:00 GMT", 0},
      {"Retry-After: Sun, 06 Nov 2094 08:00:00 GMT", 86'400},
      {"Retry-After: -1", std::nullopt},
      {"Retry-After: soon", std::nullopt},
      {"Retry-After: ", std::nullopt},
      {"X: 1", std::nullopt}};
  for (const auto& [line, seconds] : cases) {
    const auto said = retry_after(fields_of({date, line}));
    ASSERT_EQ(said.has_value(), seconds.has_value()) << line;
    EXPECT_EQ(said ? said->count() : 0, seconds.value_or(0)) << line;
  }
  EXPECT_FALSE(retry_after(fields_of({"Retry-After: Sun, 06 Nov 1994 08:50:07 GMT"})));
}

TEST(Date, IsWrittenAsImfFixdate) {
  EXPECT_EQ(format_date(kExample), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(format_date(sys_seconds{}), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(format_date(sys_seconds::max()), "Fri, 31 Dec 9999 00:00:00 GMT");
  EXPECT_EQ(format_date(sys_seconds::min()).substr(0, 16), "Sat, 01 Jan 0000");
}

TEST(Date, WhatIsWrittenIsReadBack) {
  for (long long step = 0; step < 2000; ++step) {
    const sys_seconds time{seconds(step * 86'399 * 37 - 2'000'000'000)};
    EXPECT_EQ(parse_date(format_date(time), kNow), time);
  }
}

}  // namespace
}  // namespace proxy::http
