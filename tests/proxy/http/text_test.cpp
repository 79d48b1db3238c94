#include "proxy/http/text.hpp"

#include <gtest/gtest.h>

namespace proxy::http {
namespace {

TEST(Text, TokenCharactersAreThoseOfRfc9110Section562) {
  const std::string_view punctuation = "!#$%&'*+-.^_`|~";
  for (unsigned c = 0; c < 256; ++c) {
    const bool letter_or_digit =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const char byte = static_cast<char>(c);
    EXPECT_EQ(is(kTokenChar, byte),
              letter_or_digit || (c && punctuation.find(byte) != punctuation.npos))
        << c;
  }
}

TEST(Text, ValueCharactersAreVisibleOrObsTextOrBlank) {
  for (unsigned c = 0; c < 256; ++c)
    EXPECT_EQ(is(kValueChar, static_cast<char>(c)), c == '\t' || (c >= 0x20 && c != 0x7f)) << c;
}

TEST(Text, ComparesWordsWithoutCaseAndWhole) {
  EXPECT_TRUE(same_word("Keep-Alive", "kEEP-aLIVE"));
  EXPECT_FALSE(same_word("close", "clos"));
  EXPECT_FALSE(same_word("@", "`"));  // 0x40 and 0x60: they differ like a letter's cases do
}

TEST(Text, TrimsBlanksOnly) {
  EXPECT_EQ(trim(" \t a b\t "), "a b");
  EXPECT_EQ(trim(" \t "), "");
}

TEST(Text, DecimalNumbersAreDigitsThatFit) {
  EXPECT_EQ(parse_decimal("0"), 0u);
  EXPECT_EQ(parse_decimal("007"), 7u);
  EXPECT_EQ(parse_decimal("18446744073709551615"), UINT64_MAX);
  for (const char* wrong :
       {"", "18446744073709551616", "-1", "+1", " 1", "1 ", "1.0", "0x1", "1,1"})
    EXPECT_EQ(parse_decimal(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace proxy::http
