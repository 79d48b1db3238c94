#include "proxy/mirrors/json_members.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>

namespace proxy::mirrors {
namespace {

const std::array<std::string, 2> kNames{"xetHash", "xetEnabled"};

struct Case {
  const char* name;
  std::string json;
  std::optional<std::string> left;
};

class JsonMembers : public testing::TestWithParam<Case> {};

TEST_P(JsonMembers, AreDroppedAndTheRestStaysByteForByte) {
  auto text = GetParam().json;
  EXPECT_EQ(drop_members(text, kNames), GetParam().left.has_value());
  EXPECT_EQ(text, GetParam().left.value_or(GetParam().json));
}

std::string nested(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

INSTANTIATE_TEST_SUITE_P(
    Table, JsonMembers,
    testing::Values(
        Case{"TheOnlyOne", R"({"xetHash":"aa"})", "{}"},
        Case{"TheFirst", R"({"xetHash":"aa","size":1})", R"({"size":1})"},
        Case{"TheLast", R"({"size":1,"xetHash":"aa"})", R"({"size":1})"},
        Case{"OneInBetween", R"({"a":1, "xetHash" : "aa" , "b":2})", R"({"a":1 , "b":2})"},
        Case{"SeveralBeforeTheFirstThatStays", R"({"xetHash":1,"xetEnabled":true,"a":2})",
             R"({"a":2})"},
        Case{"AllOfThem", R"({ "xetHash":1, "xetEnabled":true })", R"({   })"},
        Case{"TheSameTwice", R"({"xetHash":1,"a":2,"xetHash":3})", R"({"a":2})"},
        Case{"InATree",
             R"([{"type":"file","oid":"ab","size":7,"lfs":{"oid":"cd","size":7,"pointerSize":1},)"
             R"("xetHash":"ef","path":"a.bin"},{"type":"file","oid":"12","path":"b"}])",
             R"([{"type":"file","oid":"ab","size":7,"lfs":{"oid":"cd","size":7,"pointerSize":1},)"
             R"("path":"a.bin"},{"type":"file","oid":"12","path":"b"}])"},
        Case{"OfAModel", R"({"id":"a/b","xetEnabled":true,"siblings":[{"rfilename":"c"}]})",
             R"({"id":"a/b","siblings":[{"rfilename":"c"}]})"},
        Case{"WithAllThatIsInThem",
             R"({"a":1,"xetHash":{"xetHash":{"b":[1,{"xetHash":2}]}},"c":3})", R"({"a":1,"c":3})"},
        Case{"ButNoValues", R"(["xetHash",{"a":"xetHash"}])", R"(["xetHash",{"a":"xetHash"}])"},
        Case{"ButNoOtherNames", R"({"xethash":1,"xetHash2":2})", R"({"xethash":1,"xetHash2":2})"},
        Case{"SpellingsStay", " {\"n\" : -1.50e+3,\t\"u\":\"\\u00e9\\n\",\"z\":0}\r\n",
             " {\"n\" : -1.50e+3,\t\"u\":\"\\u00e9\\n\",\"z\":0}\r\n"},
        Case{"OfNoContainer", "null", "null"}, Case{"AsDeepAsReads", nested(128), nested(128)},
        Case{"NotTooDeep", nested(129), std::nullopt}, Case{"NotOfNothing", "", std::nullopt},
        Case{"NotOfSpace", "  ", std::nullopt}, Case{"NotOfTwoValues", "{}{}", std::nullopt},
        Case{"NotOfACutText", R"([{"xetHash":"aa"})", std::nullopt},
        Case{"NotOfACutString", R"(["a)", std::nullopt},
        Case{"NotOfACutEscape", R"(["\)", std::nullopt},
        Case{"NotOfABadEscape", R"(["\x"])", std::nullopt},
        Case{"NotOfAShortCode", R"(["\u12"])", std::nullopt},
        Case{"NotOfALineWithinAString", "[\"a\nb\"]", std::nullopt},
        Case{"NotWithACommaTooMany", R"({"a":1,})", std::nullopt},
        Case{"NotOfAListWithACommaTooMany", R"([1,])", std::nullopt},
        Case{"NotWithoutAColon", R"({"a" 1})", std::nullopt},
        Case{"NotWithoutAName", R"({1:2})", std::nullopt}, Case{"NotOfAWord", "nul", std::nullopt},
        Case{"NotOfALongWord", "nulls", std::nullopt}, Case{"NotOfABadNumber", "01", std::nullopt},
        Case{"NotOfASign", "-", std::nullopt}, Case{"NotOfHalfAFraction", "1.", std::nullopt},
        Case{"NotOfHalfAnExponent", "1e+", std::nullopt},
        Case{"NotOfHtml", "<!doctype html>", std::nullopt},
        Case{"NotOfAByteOrderMark", "\xef\xbb\xbf{}", std::nullopt}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace proxy::mirrors
