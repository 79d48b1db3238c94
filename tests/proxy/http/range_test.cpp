#include "proxy/http/range.hpp"

#include <gtest/gtest.h>

#include <string>

namespace proxy::http {
namespace {

// "whole", "none", or the parts as "0-4 7-9".
std::string selected(std::string_view range, std::uint64_t size) {
  const auto selection = select_ranges(range, size);
  if (selection.kind == Selection::Kind::whole) return "whole";
  if (selection.kind == Selection::Kind::none) return "none";
  std::string parts;
  for (const auto& part : selection.parts) {
    parts +=
        (parts.empty() ? "" : " ") + std::to_string(part.first) + '-' + std::to_string(part.last);
  }
  return parts;
}

struct RangeCase {
  const char* range;
  const char* selected;
};

TEST(Range, OfTenBytesIsWhatSection14Says) {
  const RangeCase cases[] = {
      // 14.1.2: first-last, open, suffix; an end beyond the end is the end
      {"bytes=0-0", "0-0"},
      {"bytes=0-9", "0-9"},
      {"bytes=2-5", "2-5"},
      {"bytes=5-", "5-9"},
      {"bytes=9-", "9-9"},
      {"bytes=-3", "7-9"},
      {"bytes=-10", "0-9"},
      {"bytes=-99", "0-9"},
      {"bytes=5-99", "5-9"},
      {"bytes=5-99999999999999999999999", "5-9"},
      {"bytes=-99999999999999999999999", "0-9"},
      {"bytes=00-0001", "0-1"},
      // 14.1: the unit's name is case-insensitive; other units are ignored
      {"BYTES=0-1", "0-1"},
      {"lines=0-1", "whole"},
      {"bytes", "whole"},
      {"bytes 0-1", "whole"},
      {"bytes =0-1", "whole"},
      {"", "whole"},
      // 14.1.1: several; empty members and white space around commas
      {"bytes=0-1,4-5", "0-1 4-5"},
      {"bytes=0-1 ,\t4-5", "0-1 4-5"},
      {"bytes= ,,0-1,, 4-5,", "0-1 4-5"},
      {"bytes=7-,0-1", "7-9 0-1"},
      // 14.1.1: one invalid range makes the whole value invalid
      {"bytes=5-4", "whole"},
      {"bytes=0-1,5-4", "whole"},
      {"bytes=-", "whole"},
      {"bytes=", "whole"},
      {"bytes=,", "whole"},
      {"bytes=a-b", "whole"},
      {"bytes=1", "whole"},
      {"bytes=+1-2", "whole"},
      {"bytes=1-2-3", "whole"},
      {"bytes=--1", "whole"},
      {"bytes=0x0-1", "whole"},
      {"bytes=0 -1", "whole"},
      {"bytes=0-1;2-3", "whole"},
      {"bytes=\"0-1\"", "whole"},
      // 14.1.2, 15.5.17: satisfiable if one of the ranges is
      {"bytes=10-", "none"},
      {"bytes=10-20,99-", "none"},
      {"bytes=-0", "none"},
      {"bytes=99999999999999999999999-", "none"},
      {"bytes=10-,3-4,-0", "3-4"},
      // 14.2, 15.3.7.2: overlapping and adjacent ranges are joined, at the position of the first
      {"bytes=0-3,2-5", "0-5"},
      {"bytes=4-5,0-3", "0-5"},
      // a client of ascending ranges counts on one part for each
      {"bytes=0-3,4-5", "0-3 4-5"},
      {"bytes=0-3,4-5,6-", "0-3 4-5 6-9"},
      {"bytes=0-3,4-5,6-,99-", "0-9"},
      {"bytes=8-9,0-1,3-4,1-3", "8-9 0-4"},
      {"bytes=3-4,8-9,0-1,0-", "0-9"},
      {"bytes=0-,0-,0-,-5,2-3", "0-9"},
  };
  for (const auto& [range, expected] : cases) EXPECT_EQ(selected(range, 10), expected) << range;
}

TEST(Range, OfNothingIsUnsatisfiableExceptItsSuffix) {  // RFC 9110 14.1.2
  EXPECT_EQ(selected("bytes=0-", 0), "none");
  EXPECT_EQ(selected("bytes=0-0", 0), "none");
  EXPECT_EQ(selected("bytes=-0", 0), "none");
  EXPECT_EQ(selected("bytes=-5", 0), "whole");
}

TEST(Range, IsIgnoredWhereItAsksForTooMany) {  // RFC 9110 17.15
  const auto last = std::to_string(10 * kMostAscending);
  for (const std::size_t count : {kMostRanges, kMostAscending}) {
    std::string range = "bytes=0-0";
    std::string expected = "0-0";
    for (std::size_t i = 1; i < count; ++i) {
      const auto at = std::to_string(10 * i);
      range += ',' + at + '-' + at;
      expected += ' ' + at + '-' + at;
    }
    EXPECT_EQ(selected(range, 20'000), expected);
    EXPECT_EQ(joined_range(range), range);
    EXPECT_EQ(selected(range + ",5-5", 20'000), "whole") << "they do not ascend any more";
    EXPECT_EQ(selected(range + ",-1", 20'000), "whole");
    const bool more = count < kMostAscending;
    EXPECT_EQ(selected(range + ',' + last + '-' + last, 20'000),
              more ? expected + ' ' + last + '-' + last : "whole");
    EXPECT_EQ(joined_range(range + ",99999-").has_value(), more);
  }
}

TEST(Range, ReachesTheLargestPosition) {
  EXPECT_EQ(selected("bytes=18446744073709551614-", UINT64_MAX),
            "18446744073709551614-18446744073709551614");
  EXPECT_EQ(selected("bytes=0-18446744073709551615,1-2", UINT64_MAX), "0-18446744073709551614");
}

TEST(Range, IsSpelledAsContentRangeIs) {  // RFC 9110 14.4
  EXPECT_EQ(content_range({{0, 4}, 11}), "bytes 0-4/11");
  EXPECT_EQ(content_range({{2, 4}, {}}), "bytes 2-4/*");
  EXPECT_EQ(unsatisfied_range(11), "bytes */11");
}

struct ContentRangeCase {
  const char* value;
  std::optional<ContentRange> meaning;
};

TEST(ContentRange, IsReadStrictly) {  // RFC 9110 14.4
  const std::uint64_t largest = UINT64_MAX;
  const ContentRangeCase cases[] = {
      {"bytes 0-4/11", {{{0, 4}, 11}}},
      {"Bytes 0-0/1", {{{0, 0}, 1}}},
      {"bytes 5-10/11", {{{5, 10}, 11}}},
      {"bytes 5-10/*", {{{5, 10}, {}}}},
      {"bytes 0-18446744073709551614/18446744073709551615", {{{0, largest - 1}, largest}}},
      {"bytes 0-18446744073709551615/*", {}},
      {"bytes 0-18446744073709551616/18446744073709551617", {}},
      {"bytes 99999999999999999999-1/2", {}},
      {"bytes 5-4/11", {}},
      {"bytes 5-11/11", {}},
      {"bytes 5-10/0", {}},
      {"bytes */11", {}},
      {"bytes */*", {}},
      {"bytes -5/11", {}},
      {"bytes 5-/11", {}},
      {"bytes 5/11", {}},
      {"bytes 5-10", {}},
      {"bytes 5-10/", {}},
      {"bytes 5-10/11/11", {}},
      {"bytes 5-10/11 ", {}},
      {"bytes  5-10/11", {}},
      {"bytes 5 - 10 / 11", {}},
      {"bytes=5-10/11", {}},
      {"bytes 5-10/11, bytes 0-1/11", {}},
      {"bytes +5-10/11", {}},
      {"bytes 0x5-10/11", {}},
      {"bytes /-", {}},
      {"lines 5-10/11", {}},
      {"bytes", {}},
      {"", {}},
  };
  for (const auto& [value, meaning] : cases)
    EXPECT_EQ(parse_content_range(value), meaning) << value;
}

TEST(OnlyRange, IsWhatStandsThereAlone) {
  const struct {
    const char* field;
    std::optional<AskedRange> meaning;
  } cases[] = {
      {"bytes=0-0", AskedRange{0, 0}},
      {"bytes=5-9", AskedRange{5, 9}},
      {"BYTES=5-", AskedRange{5, {}}},
      {"bytes=5-99999999999999999999999", AskedRange{5, {}}},
      {"bytes=99999999999999999999999-", {}},
      {"bytes=-5", {}},
      {"bytes=5-4", {}},
      {"bytes=5-9,", {}},
      {"bytes=5-9, 20-30", {}},
      {"bytes= 5-9", {}},
      {"lines=5-9", {}},
      {"bytes=", {}},
      {"", {}},
  };
  for (const auto& [field, meaning] : cases) EXPECT_EQ(only_range(field), meaning) << field;
  EXPECT_EQ(range_field({5, 9}), "bytes=5-9");
  EXPECT_EQ(range_field({5, {}}), "bytes=5-");
}

TEST(HeededRange, IsWhatIsWorthSendingOn) {
  const struct {
    const char* field;
    std::optional<std::string> heeded;
  } cases[] = {
      // unchanged if there is nothing to join
      {"bytes=5-9", "bytes=5-9"},
      {"BYTES= 05-, ,-5", "BYTES= 05-, ,-5"},
      {"bytes=0-0, 5-9,2-3", "bytes=0-0, 5-9,2-3"},
      {"bytes=99999999999999999999999-", "bytes=99999999999999999999999-"},
      {"bytes=-0", "bytes=-0"},
      // 15.3.7.2: overlapping and adjacent ranges are joined, at the position of the first
      {"bytes=0-,0-,0-", "bytes=0-"},
      {"bytes=0-3,4-5", "bytes=0-3,4-5"},
      {"bytes=4-5, 0-3", "bytes=0-5"},
      {"bytes=8-9,0-1,3-4,1-3", "bytes=8-9,0-4"},
      {"bytes=3-4,8-9,0-1,0-", "bytes=0-"},
      {"bytes=20-,5-9,10-15", "bytes=20-,5-15"},
      {"bytes=0-18446744073709551614,18446744073709551615-,1-1", "bytes=0-"},
      // nobody knows where a suffix begins, but the longer one contains the shorter
      {"bytes=-5,0-9,-20,3-4", "bytes=-20,0-9"},
      {"bytes=0-,-5,0-", "bytes=0-,-5"},
      {"bytes=-99999999999999999999999,-1", "bytes=-18446744073709551615"},
      // 14.2: malformed values are left for others to ignore
      {"bytes=5-4", "bytes=5-4"},
      {"bytes=0-1,x,0-1", "bytes=0-1,x,0-1"},
      {"bytes=", "bytes="},
      {"=0-1", "=0-1"},
      {"", ""},
      // 14.1: the origin may know another unit
      {"lines=0-1,0-1", "lines=0-1,0-1"},
  };
  for (const auto& [field, heeded] : cases) EXPECT_EQ(joined_range(field), heeded) << field;
}

TEST(HeededRange, IsNothingWhereItAsksForTooMany) {
  for (const std::string begin : {"bytes=0-", "lines=0-", "bytes=9-0"}) {
    std::string field = begin;
    for (std::size_t count = 1; count < kMostRanges; ++count) field += ",0-";
    EXPECT_TRUE(joined_range(field));
    EXPECT_FALSE(joined_range(field + ",0-"));
  }
}

TEST(AskedRanges, AreAllThatStandThere) {
  const struct {
    const char* field;
    AskedRanges meaning;
  } cases[] = {
      {"bytes=0-0", {{0, 0}}},
      {"bytes=5-9, 0-4,5-", {{5, 9}, {0, 4}, {5, {}}}},
      {"bytes=5-9,,", {{5, 9}}},
      {"bytes=5-9,-5", {}},
      {"bytes=5-9,9-5", {}},
      {"bytes=5-9,x", {}},
      {"bytes=5-9,99999999999999999999999-", {}},
      {"lines=5-9", {}},
      {"bytes=", {}},
      {"", {}},
  };
  for (const auto& [field, meaning] : cases) EXPECT_EQ(asked_ranges(field), meaning) << field;
}

TEST(AskedRanges, AscendIfEachBeginsBehindTheOneBefore) {
  for (const char* field : {"bytes=0-0", "bytes=5-", "bytes=0-4,5-9, 20-"})
    EXPECT_TRUE(ascend(asked_ranges(field))) << field;
  for (const char* field : {"bytes=0-5,5-9", "bytes=5-9,0-4", "bytes=0-,9-9"})
    EXPECT_FALSE(ascend(asked_ranges(field))) << field;
}

TEST(Range, OfA416TellsTheLength) {
  EXPECT_EQ(unsatisfied_length("bytes */11"), 11U);
  for (const char* value : {"", "bytes 0-4/11", "bytes */*", "bytes */x", "lines */11"})
    EXPECT_FALSE(unsatisfied_length(value)) << value;
}

TEST(AskedRanges, AreNoneWhereTheyAreTooMany) {
  std::string field = "bytes=0-0";
  for (std::size_t count = 1; count < kMostRanges; ++count) field += ",0-0";
  EXPECT_EQ(asked_ranges(field).size(), kMostRanges);
  EXPECT_TRUE(asked_ranges(field + ",0-0").empty());
}

TEST(ContentRange, IsTheWholeOnlyFromTheFirstByteToTheLast) {
  EXPECT_TRUE((ContentRange{{0, 4}, 5}.is_whole()));
  EXPECT_FALSE((ContentRange{{0, 4}, 6}.is_whole()));
  EXPECT_FALSE((ContentRange{{1, 4}, 5}.is_whole()));
  EXPECT_FALSE((ContentRange{{0, 4}, {}}.is_whole()));
}

}  // namespace
}  // namespace proxy::http
