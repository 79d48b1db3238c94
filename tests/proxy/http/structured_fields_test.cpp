#include "proxy/http/structured_fields.hpp"

#include <gtest/gtest.h>

namespace proxy::http {
namespace {

// "item;key=value, ..." in one spelling, or "failed".
std::string read(std::string_view line) {
  StructuredReader list(line, Structure::list);
  std::string all;
  while (const auto member = list.next()) {
    if (!all.empty()) all += ", ";
    all += member->item.text;
    for (const auto& [key, value] : member->parameters) {
      all.append(";").append(key).append("=").append(value.text);
    }
  }
  return list.failed() ? "failed" : all;
}

struct ItemCase {
  const char* name;
  std::string_view line;
  std::string_view read;
};
class StructuredLists : public testing::TestWithParam<ItemCase> {};

TEST_P(StructuredLists, AreReadAsRfc8941Says) {
  EXPECT_EQ(read(GetParam().line), GetParam().read);
}

INSTANTIATE_TEST_SUITE_P(
    Good, StructuredLists,
    testing::Values(ItemCase{"Tokens", "a,b ,\t c", "a, b, c"},
                    ItemCase{"SpacesAround", "  a, b  ", "a, b"}, ItemCase{"Nothing", "", ""},
                    ItemCase{"Token", "*a/b:80", "*a/b:80"}, ItemCase{"String", R"("a,b")", "a,b"},
                    ItemCase{"Escapes", R"("a\"\\")", R"(a\"\\)"},
                    ItemCase{"Numbers", "-12, 0, 1.250, 999999999999999",
                             "-12, 0, 1.250, 999999999999999"},
                    ItemCase{"Booleans", "?1, ?0", "1, 0"}, ItemCase{"Bytes", ":YWJj:", "YWJj"},
                    ItemCase{"Parameters", "a;x;y=2; z=\"q\"", "a;x=1;y=2;z=q"}),
    [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Bad, StructuredLists,
    testing::Values(
        ItemCase{"TrailingComma", "a,", "failed"}, ItemCase{"TwoCommas", "a,,b", "failed"},
        ItemCase{"LeadingComma", ",a", "failed"}, ItemCase{"NoComma", "a b", "failed"},
        ItemCase{"NoKey", "a;", "failed"}, ItemCase{"NoValue", "a;x=", "failed"},
        ItemCase{"BigKey", "a;X=1", "failed"}, ItemCase{"SpaceBeforeSemicolon", "a ;x", "failed"},
        ItemCase{"OpenString", "\"a", "failed"}, ItemCase{"OpenEscape", "\"a\\", "failed"},
        ItemCase{"OtherEscape", R"("\a")", "failed"},
        ItemCase{"ControlInString", "\"a\x01\"", "failed"},
        ItemCase{"LatinInString", "\"\xfc\"", "failed"}, ItemCase{"OnlyASign", "-", "failed"},
        ItemCase{"LongNumber", "1234567890123456", "failed"},
        ItemCase{"LongWholePart", "1234567890123.1", "failed"},
        ItemCase{"LongFraction", "1.2345", "failed"}, ItemCase{"NoFraction", "1.", "failed"},
        ItemCase{"OtherBoolean", "?2", "failed"}, ItemCase{"HalfABoolean", "?", "failed"},
        ItemCase{"OpenBytes", ":YWJj", "failed"}, ItemCase{"NoBase64", ":Y-J:", "failed"},
        ItemCase{"InnerList", "(a b)", "failed"}, ItemCase{"Rubbish", "=", "failed"}),
    [](const auto& tested) { return tested.param.name; });

TEST(StructuredList, HasAnEndToParameters) {
  std::string line = "a";
  for (std::size_t i = 0; i < StructuredReader::kMaxParameters; ++i) line += ";x";
  EXPECT_NE(read(line), "failed");
  EXPECT_EQ(read(line + ";x"), "failed");
}

TEST(StructuredList, OfTwoParametersWithOneKeyTheLastHolds) {
  const auto member = StructuredReader("a;x=1;y=2;x=3", Structure::list).next();
  EXPECT_EQ(member->find("x")->text, "3");
  EXPECT_EQ(member->find("z"), nullptr);
}

// "key=item;key=value, ..." in one spelling, or "failed".
std::string read_dictionary(std::string_view line) {
  StructuredReader dictionary(line, Structure::dictionary);
  std::string all;
  while (const auto member = dictionary.next()) {
    if (!all.empty()) all += ", ";
    all.append(member->key).append("=").append(member->item.text);
    for (const auto& [key, value] : member->parameters) {
      all.append(";").append(key).append("=").append(value.text);
    }
  }
  return dictionary.failed() ? "failed" : all;
}

TEST(StructuredDictionaries, AreReadAsRfc8941Section422Says) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", ""},
      {"a", "a=1"},
      {"a;x=2", "a=1;x=2"},
      {"a=60, b=\"c, d\" ,\tc=?0", "a=60, b=c, d, c=0"},
      {"a=1, a=2", "a=1, a=2"},
      {"a=(), b=( 1  x;y \")\" );z", "a=, b= 1  x;y \")\" ;z=1"},
      {"*a.b-c_d=x", "*a.b-c_d=x"},
  };
  for (const auto& [line, expected] : cases) EXPECT_EQ(read_dictionary(line), expected) << line;
  for (const char* bad : {"a,", ",a", "a,,b", "A", "a=", "a =1", "a= 1", "a b", "1", "a=(", "a=(1",
                          "a=(1,2)", "a=(1\tx)", "a=(\"x\"y)", "a=((x))", "a=1;", "a=1;X", "=1"})
    EXPECT_EQ(read_dictionary(bad), "failed") << bad;
}

}  // namespace
}  // namespace proxy::http
