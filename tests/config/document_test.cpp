#include "config/document.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace config {
namespace {

std::optional<SettingFault> slip_in(std::string_view text) {
  Faults faults;
  const auto document = parse_document(text, faults);
  EXPECT_EQ(document.has_value(), faults.empty()) << text;
  return faults.empty() ? std::nullopt : std::optional(faults.back());
}

struct SlipCase {
  std::string_view text;
  std::size_t line, column;
  std::string_view words;
};

TEST(ParseDocument, NamesEachSlipWithItsPlace) {
  for (const SlipCase& c : {
           SlipCase{"{\"a\": 1\n \"b\": 2}", 1, 8, "a comma is missing here, after \"1\""},
           SlipCase{"{\"a\": \"x\" // why\n \"b\": 2}", 1, 10,
                    "comma is missing here, after \"x\""},
           SlipCase{"{\"a\": {}\n\n \"b\": 2}", 1, 9, "a comma is missing here"},
           SlipCase{"{\"a\": [\"x\" \"y\"]}", 1, 11, "a comma is missing here, after \"x\""},
           SlipCase{"{\"a\": [{} {}]}", 1, 10, "a comma is missing here"},
           SlipCase{"{\"a\": 1,}", 1, 8, "no comma may stand before \"}\""},
           SlipCase{"{\"a\": [1,\n]}", 1, 9, "no comma may stand before \"]\""},
           SlipCase{"{\"a\": 1,, \"b\": 2}", 1, 9, "one comma too many"},
           SlipCase{"{\"a\": [1,,2]}", 1, 10, "one comma too many"},
           SlipCase{"{, \"a\": 1}", 1, 2, "one comma too many"},
           SlipCase{"{'a': 1}", 1, 2, "double quotes, not in single ones"},
           SlipCase{"{\"a\": 'b'}", 1, 7, "double quotes, not in single ones"},
           SlipCase{"{\"a: 1,\n\"b\": 2}", 1, 2, "the quote that opens here is not closed"},
           SlipCase{"{\"a\": \"b}", 1, 7, "the quote that opens here is not closed"},
           SlipCase{"{a: 1}", 1, 2, "a key is written in double quotes: \"a\""},
           SlipCase{"{\"a\": 256MiB}", 1, 7, "a text is written in double quotes: \"256MiB\""},
           SlipCase{"{\"a\": True}", 1, 7, "write true"},
           SlipCase{"{\"a\": no}", 1, 7, "write false"},
           SlipCase{"{\"a\" 1}", 1, 5, "a colon is missing here, after \"a\""},
           SlipCase{"{\"a\" = 1}", 1, 6, "a colon, not \"=\""},
           SlipCase{"{\"a\": 1; \"b\": 2}", 1, 8, "a comma separates settings"},
           SlipCase{"{\"a\": }", 1, 7, "a value is missing"},
           SlipCase{"{\"a\": , \"b\": 1}", 1, 7, "a value is missing"},
           SlipCase{"{\"a\": {\"b\": 1}", 1, 1, "this { is not closed"},
           SlipCase{"{\n\"a\": [1\n", 2, 6, "this [ is not closed"},
           SlipCase{"{\"a\": [1}", 1, 9, "expected ] for the [ of line 1, column 7; found }"},
           SlipCase{"{\"a\": 1}}", 1, 9, "one } too many"},
           SlipCase{"{\"a\": [\"b\": 1]}", 1, 7, "write it as an object"},
           SlipCase{"{\"a\": 1: 2}", 1, 8, "one colon too many"},
           SlipCase{"{}\n{}", 2, 1, "the settings end before this"},
           SlipCase{"{\n  \"a\": {\n    \"b\": 1,\n  \"c\": 2\n}\n", 2, 8,
                    "this { is not closed: the } of line 5"},
           SlipCase{"{\n  \"a\": { \"b\": 1,\n  \"c\": 2\n}\n", 2, 8,
                    "this { is not closed: the } of line 4 is meant for what is around it"},
           SlipCase{"{\n  \"a\": [\n    1,\n    2\n}\n", 5, 1, "expected ] for the [ of line 2"},
           SlipCase{"name: a\nlisten:\n  - 1\n", 1, 1, "this is no JSON (YAML"},
           SlipCase{"---\nname: a\n", 1, 1, "this is no JSON (YAML"},
           SlipCase{"// c\n[server]\nname = a\n", 2, 1, "this is no JSON (YAML"},
           SlipCase{"<settings/>", 1, 1, "this is no JSON"},
           SlipCase{"\xFF\xFE{", 1, 1, "the file is UTF-16; save it as UTF-8"},
           SlipCase{"{\"a\": \"caf\xE9\"}", 1, 11, "the byte 0xE9 is no UTF-8 (Latin-1"},
           SlipCase{"{\"a\": \"\xC0\xAF\"}", 1, 8, "the byte 0xC0 is no UTF-8"},
           SlipCase{"{\"a\": \"\xED\xA0\x80\"}", 1, 8, "the byte 0xED is no UTF-8"},
           SlipCase{"{\"a\": \"x\ty\"}", 1, 9, "a tab in a text is written \\t"},
           SlipCase{"{\"a\": \"x\x01y\"}", 1, 9, "a control character, 0x01"},
           SlipCase{"{\"a\": \"\\u12\"}", 1, 8, "four hexadecimal digits follow \\u"},
           SlipCase{"{\"a\": \"\\ud83d.\"}", 1, 8, "this is half a character"},
           SlipCase{"{\"a\": 1e999}", 1, 7, "\"1e999\" is too long for any setting"},
           SlipCase{"{\"a\": 007}", 1, 7, "\"007\" is no number; write it like 7"},
           SlipCase{"{\"a\": +1}", 1, 7, "\"+1\" is no number"},
           SlipCase{"{\"a\": .5}", 1, 7, "\".5\" is no number; write it like 7, -7 or 0.5"},
           SlipCase{"{\"a\": 5.}", 1, 7, "\"5.\" is no number"},
           SlipCase{"# a comment\n{}", 1, 1, "a comment begins with //"},
           SlipCase{"{ /* for ever", 1, 3, "this comment has no end"},
           SlipCase{"{\"a\": \"C:\\x\"}", 1, 10, "a backslash in a text is written twice"},
           SlipCase{"{\xE2\x80\x9C"
                    "a\": 1}",
                    1, 2, "plain double quotes"},
           SlipCase{"", 1, 1, "is empty"},
           SlipCase{"// nothing\n", 2, 1, "is empty"},
       }) {
    const auto slip = slip_in(c.text);
    ASSERT_TRUE(slip) << c.text;
    EXPECT_EQ(slip->at, (TextPosition{c.line, c.column})) << c.text;
    EXPECT_NE(slip->what.find(c.words), std::string::npos) << c.text << ": " << slip->what;
  }
}

TEST(ParseDocument, FindsNoneInJson) {
  for (const std::string_view text :
       {"{}", "[]", "7", "\"a\"", "null",
        "\xEF\xBB\xBF{ // b\n \"a\": [ ], /* c */ \"d\": {\"e\": "
        "[1, -2.5e+3, true, false, null, \"\\\"\\\\\\u0041\\ud83d\\ude00\xC3\xA9\xE2\x82\xAC"
        "\xF0\x9F\x98\x80\"]}}"}) {
    const auto slip = slip_in(text);
    EXPECT_FALSE(slip) << text << ": " << (slip ? slip->what : "");
  }
}

TEST(ParseDocument, IsSafeHoweverDeepTheTextIs) {
  const auto slip = slip_in(std::string(100'000, '['));
  ASSERT_TRUE(slip);
  EXPECT_EQ(slip->what, "is nested deeper than any setting (16 levels)");
  EXPECT_EQ(slip->at, (TextPosition{1, 17}));
}

TEST(ParseDocument, GivesTextsAsTheyAreMeant) {
  Faults faults;
  const auto document =
      parse_document(R"(["\"\\\/\b\f\n\r\t", "\u0041\u00e9\u20AC\ud83d\ude00", -0, 1.50])", faults);
  ASSERT_TRUE(document);
  const auto& items = std::get<Array>(document->content);
  EXPECT_EQ(std::get<std::string>(items.at(0).content), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(std::get<std::string>(items.at(1).content), "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(std::get<Number>(items.at(2).content).text, "0");
  EXPECT_EQ(std::get<Number>(items.at(3).content).text, "1.50");
}

TEST(ParseDocument, PassesOverCommentsWhereverBlanksMayBe) {
  Faults faults;
  const auto document = parse_document("{\"a\"/*:*/:1/* */,// ,\r\"b\":true/**/}", faults);
  ASSERT_TRUE(document);
  EXPECT_EQ(std::get<Object>(document->content).size(), 2U);
  ASSERT_TRUE(slip_in("{\"a\": /pool/*}"));
  EXPECT_EQ(slip_in("{\"a\": /pool/*}")->what, "a text is written in double quotes: \"/pool/*\"")
      << "no comment";
}

}  // namespace
}  // namespace config
