#include "config/text.hpp"

#include <gtest/gtest.h>

#include <array>

namespace config {
namespace {

using namespace std::chrono_literals;

TEST(ParseBytes, ReadsEachUnitAndWritesItBack) {
  struct Case {
    std::string_view text;
    std::uint64_t value;
  };
  for (const Case& c :
       {Case{"0B", 0}, Case{"7B", 7}, Case{"64KiB", 65'536}, Case{"256MiB", 268'435'456},
        Case{"20GiB", 21'474'836'480}, Case{"3TiB", 3'298'534'883'328}}) {
    ASSERT_TRUE(parse_bytes(c.text)) << c.text;
    EXPECT_EQ(parse_bytes(c.text)->value, c.value);
    EXPECT_EQ(to_text(ByteSize{c.value}), c.text);
  }
}

TEST(ParseBytes, TakesASingleLetterForAPowerOf1024) {
  EXPECT_EQ(parse_bytes("64K"), parse_bytes("64KiB"));
  EXPECT_EQ(parse_bytes("256M"), parse_bytes("256MiB"));
  EXPECT_EQ(parse_bytes("20G"), parse_bytes("20GiB"));
  EXPECT_EQ(parse_bytes("3T"), parse_bytes("3TiB"));
}

TEST(ParseBytes, RefusesWhatCouldMeanTwoThings) {
  for (const std::string_view text :
       {"", "5", "MiB", "5MB", "5m", "5mib", "5 MiB", " 5MiB", "5MiB ", "-5MiB", "+5MiB", "1.5GiB",
        "0x5B", "99999999999999999999B", "16777216TiB"}) {
    EXPECT_FALSE(parse_bytes(text)) << text;
  }
}

TEST(ParseDuration, ReadsEachUnitAndWritesItBack) {
  struct Case {
    std::string_view text;
    milliseconds value;
  };
  for (const Case& c : {Case{"0ms", 0ms}, Case{"250ms", 250ms}, Case{"5s", 5s}, Case{"10m", 10min},
                        Case{"2h", 2h}, Case{"30d", 24h * 30}}) {
    ASSERT_TRUE(parse_duration(c.text)) << c.text;
    EXPECT_EQ(*parse_duration(c.text), c.value);
    EXPECT_EQ(to_text(c.value), c.text);
  }
}

TEST(ParseDuration, ReadsWeeks) {
  EXPECT_EQ(parse_duration("2w"), 24h * 14);
  EXPECT_EQ(to_text(milliseconds(24h * 14)), "14d");
}

TEST(ParseDuration, RefusesWhatIsNoTime) {
  for (const std::string_view text : {"", "5", "ms", "5S", "5 s", "-5s", "1m30s", "99999999999h"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(Printable, KeepsTerminalCodesOutAndIsBounded) {
  EXPECT_EQ(in_quotes("a\x1b[31m\n\xff"), "\"a?[31m??\"");
  EXPECT_EQ(printable("abcdef", 3), "abc...");
  EXPECT_EQ(in_quotes(std::string(100'000, 'x')).size(), 65u);
}

TEST(RoughText, IsInTheUnitThatAPersonWouldTake) {
  EXPECT_EQ(rough_text(0s), "0 s");
  EXPECT_EQ(rough_text(10min), "600 s");
  EXPECT_EQ(rough_text(10min + 59s), "10 minutes");
  EXPECT_EQ(rough_text(119min + 59s), "119 minutes");
  EXPECT_EQ(rough_text(2h), "2 hours");
  EXPECT_EQ(rough_text(47h + 59min), "47 hours");
  EXPECT_EQ(rough_text(48h), "2 days");
  EXPECT_EQ(rough_text(2'592'000s), "30 days");
}

TEST(Nearest, FindsASlipOfThePenAndNothingFarther) {
  constexpr std::array<std::string_view, 4> kWords{"memory", "disk", "max_object", "url"};
  EXPECT_EQ(nearest("memroy", kWords), "memory");
  EXPECT_EQ(nearest("max-object", kWords), "max_object");
  EXPECT_EQ(nearest("Disk", kWords), "disk");
  EXPECT_EQ(nearest("threads", kWords), "");
  EXPECT_EQ(nearest("", kWords), "");
  constexpr std::array<std::string_view, 2> kShort{"top", "list"};
  EXPECT_EQ(nearest("foo", kShort), "") << "one letter in three is right";
  EXPECT_EQ(nearest("lits", kShort), "list");
  EXPECT_EQ(nearest(std::string(100'000, 'm'), kWords), "");
}

// RFC 9110 section 5.6.2.
TEST(ShortSize, RoundsForPeople) {
  EXPECT_EQ(short_size(0), "0 B");
  EXPECT_EQ(short_size(1023), "1023 B");
  EXPECT_EQ(short_size(1024), "1.0 KiB");
  EXPECT_EQ(short_size(10'200), "10 KiB");
  EXPECT_EQ(short_size(1023 * 1024), "1.0 MiB");
  EXPECT_EQ(short_size(std::uint64_t{5} << 40), "5.0 TiB");
  EXPECT_EQ(short_size(UINT64_MAX), "16 EiB");
}

TEST(Token, IsMadeOfTokenCharacters) {
  for (const std::string_view text : {"cache-a", "10.0.0.1-3128", "a!#$%&'*+-.^_`|~9"}) {
    EXPECT_TRUE(is_token(text)) << text;
  }
  for (const std::string_view text :
       {"", "a b", "a:1", "a/b", "a\"", "a,b", "caf\xc3\xa9", "a\x7f"}) {
    EXPECT_FALSE(is_token(text)) << text;
  }
}

TEST(UserName, HasNeitherColonNorControlCharacters) {
  for (const char* name : {"anna", "anna k", "*", "\xC3\xA4nne"}) {
    EXPECT_TRUE(is_user_name(name)) << name;
  }
  for (const char* name : {"", "an:na", "an\nna", "anna\x7f"}) {
    EXPECT_FALSE(is_user_name(name)) << printable(name, 20);
  }
  EXPECT_TRUE(is_user_name(std::string(255, 'a')));
  EXPECT_FALSE(is_user_name(std::string(256, 'a')));
}

// Of RFC 3629 section 4: the least and the greatest of each length, and what is just none.
TEST(Utf8Length, IsThatOfTheFirstCharacterAndZeroWhereThereIsNone) {
  const std::pair<std::string_view, std::size_t> cases[] = {{{"\0", 1}, 1},
                                                            {"\x7F", 1},
                                                            {"\xC2\x80", 2},
                                                            {"\xDF\xBF", 2},
                                                            {"\xE0\xA0\x80", 3},
                                                            {"\xED\x9F\xBF", 3},
                                                            {"\xEE\x80\x80", 3},
                                                            {"\xEF\xBF\xBFrest", 3},
                                                            {"\xF0\x90\x80\x80", 4},
                                                            {"\xF4\x8F\xBF\xBF", 4},
                                                            {"", 0},
                                                            {"\x80", 0},
                                                            {"\xC0\xAF", 0},
                                                            {"\xC1\xBF", 0},
                                                            {"\xC2", 0},
                                                            {"\xC2\xC2", 0},
                                                            {"\xE0\x9F\xBF", 0},
                                                            {"\xED\xA0\x80", 0},
                                                            {"\xE2\x82", 0},
                                                            {"\xE2\x82\x28", 0},
                                                            {"\xF0\x8F\xBF\xBF", 0},
                                                            {"\xF4\x90\x80\x80", 0},
                                                            {"\xF1\x80\x80", 0},
                                                            {"\xF5\x80\x80\x80", 0},
                                                            {"\xFF", 0}};
  for (const auto& [text, length] : cases) EXPECT_EQ(utf8_length(text), length) << text;
}

}  // namespace
}  // namespace config
