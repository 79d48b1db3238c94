#include "proxy/mirrors/json_members.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <utility>

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

// "X", and what the link was, and the digest.
std::optional<std::string> with_digest(std::string_view link, std::string_view sha256) {
  if (link == "stay") return std::nullopt;
  return "X[" + std::string(link) + ',' + std::string(sha256) + ']';
}

TEST(JsonLinks, ChangeAndTheRestStaysByteForByte) {
  const std::array<std::string, 3> names{"tarball", "url", "dist.zip"};
  const std::pair<std::string, std::string> cases[] = {
      {R"({"versions":{"1.0":{"dist":{"shasum":"s", "tarball" : "b","integrity":"i"}}},"time":{}})",
       R"({"versions":{"1.0":{"dist":{"shasum":"s", "tarball" : "X[b,]","integrity":"i"}}},"time":{}})"},
      {R"({"files":[{"hashes":{"sha256":"h"},"url":"b"},{"url":"c","hashes":{"md5":"m"}}]})",
       R"({"files":[{"hashes":{"sha256":"h"},"url":"X[b,h]"},{"url":"X[c,]","hashes":)"
       R"({"md5":"m"}}]})"},
      {R"([{"url":"b","core-metadata":{"sha256":"m"},"hashes":{"sha256":"h"}},{"url":"c"}])",
       R"([{"url":"X[b,h]","core-metadata":{"sha256":"m"},"hashes":{"sha256":"h"}},)"
       R"({"url":"X[c,]"}])"},
      {R"({"url":"b","archive_sha256":"h","url":"c"})",
       R"({"url":"X[b,]","archive_sha256":"h","url":"X[c,h]"})"},
      {R"({"dist":{"zip":"b"},"source":{"zip":"c"},"zip":"d"})",
       R"({"dist":{"zip":"X[b,]"},"source":{"zip":"c"},"zip":"d"})"},
      {R"({"dist":[{"zip":"b"}]})", R"({"dist":[{"zip":"X[b,]"}]})"},
      {R"({"url":"https:\/\/h\/b"})", R"({"url":"X[https://h/b,]"})"},
      {R"({"url":"stay","other":"b"})", R"({"url":"stay","other":"b"})"},
      {R"({"url":"a\u0062"})", R"({"url":"a\u0062"})"},
      {R"({"url":1,"tarball":{"tarball":null}})", R"({"url":1,"tarball":{"tarball":null}})"},
      {R"(["url","b"])", R"(["url","b"])"},
  };
  for (const auto& [before, after] : cases) {
    auto text = before;
    EXPECT_TRUE(change_links(text, names, with_digest));
    EXPECT_EQ(text, after);
  }
}

TEST(JsonLinks, StayInATextThatCannotBeReadOrHasTooMany) {
  const std::array<std::string, 1> names{"url"};
  std::string many = "[0";
  for (int i = 0; i < 10'000; ++i) many += R"(,{"url":"b"})";
  many += ']';
  for (const auto& before : {std::string(R"({"url":"b")"), std::string("<a>"), many}) {
    auto text = before;
    EXPECT_FALSE(change_links(
        text, names, [](auto, auto) { return std::optional<std::string>(std::string(500, 'x')); }));
    EXPECT_EQ(text, before);
  }
}

// Else the text would be none.
TEST(JsonLinks, StayInPlaceOfALinkThatAStringCannotHave) {
  const std::array<std::string, 1> names{"url"};
  std::string text = R"({"url":"b"})";
  EXPECT_TRUE(
      change_links(text, names, [](auto, auto) { return std::optional<std::string>("\""); }));
  EXPECT_EQ(text, R"({"url":"b"})");
}

}  // namespace
}  // namespace proxy::mirrors
