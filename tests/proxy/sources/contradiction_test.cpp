#include "proxy/sources/checking.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/policy/requests.hpp"

namespace proxy::sources {
namespace {

constexpr std::string_view kTag = "ETag: \"v1\"\r\n";
constexpr std::string_view kOtherTag = "ETag: \"v2\"\r\n";
constexpr std::string_view kOld = "Last-Modified: Sun, 01 Jan 2023 00:00:00 GMT\r\n";
constexpr std::string_view kOther = "Last-Modified: Sun, 01 Jan 2023 00:00:01 GMT\r\n";
constexpr std::string_view kNew = "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n";
constexpr std::string_view kDate = "Date: Mon, 01 Jan 2024 00:00:10 GMT\r\n";
constexpr std::string_view kGzip = "Content-Encoding: gzip\r\n";
using Length = std::optional<std::uint64_t>;

struct Case {
  const char* name;
  bool contradicts;
  std::string given;
  std::string origin;
  Length length = 5;
  Length origin_length = 5;
  unsigned status = 200;
};

std::string lines(std::initializer_list<std::string_view> all) {
  std::string text(kDate);
  for (const auto line : all) text += line;
  return text;
}

bool found(const Case& c) {
  cache::Budget budget(1 << 20);
  const policy::TextRequest request("");
  const policy::TextAnswer given(200, c.given);
  const policy::TextAnswer origin(c.status, c.origin);
  const cache::Time now{std::chrono::sys_days{std::chrono::January / 2 / 2024}};
  const auto entry = cache::Entry::make(budget, cache::Received{.url = "http://a.test/x",
                                                                .request = (*request).head.fields,
                                                                .response = given.head,
                                                                .times = {now, now},
                                                                .our_name = "us"});
  return contradicts(origin.head, c.origin_length, *entry, c.length);
}

TEST(Contradiction, IsADifferenceThatNoChangeAtTheOriginExplains) {
  for (const Case& c : {
           Case{"SameTagOtherLength", true, lines({kTag}), lines({kTag}), 5, 6},
           Case{"SameDateOtherLength", true, lines({kOld}), lines({kOld}), 5, 6},
           Case{"OtherTagAndLength", true, lines({kTag, kOld}), lines({kOtherTag, kOld}), 5, 6},
           Case{"OtherTagAndDate", true, lines({kTag, kOther}), lines({kOtherTag, kOld})},
           Case{"OtherDate", true, lines({kOther}), lines({kOld})},
           Case{"NoValidatorButTheOriginHasLongHadOne", true, lines({}), lines({kTag, kOld})},
       }) {
    EXPECT_TRUE(found(c)) << c.name;
  }
}

TEST(Contradiction, IsNothingElse) {
  for (const Case& c : {
           Case{"TheSame", false, lines({kTag, kOld}), lines({kTag, kOld})},
           Case{"LengthOfTheOriginUnknown", false, lines({kTag}), lines({kTag}), 5, Length()},
           Case{"LengthUnknown", false, lines({kTag}), lines({kTag}), Length(), 5},
           Case{"OtherEncoding", false, lines({kTag, kGzip}), lines({kTag}), 5, 6},
           Case{"WeakTags", false, lines({"ETag: W/\"a\"\r\n"}), lines({"ETag: W/\"a\"\r\n"}), 5,
                6},
           Case{"ChangedSince", false, lines({kTag, kOld}), lines({kOtherTag, kNew}), 5, 6},
           Case{"NobodyTellsWhenItChanged", false, lines({kTag}), lines({kOtherTag}), 5, 6},
           Case{"AnotherServerOfTheOrigin", false, lines({kTag, kOld}), lines({kOtherTag, kOld})},
           Case{"TwoTags", false, lines({kTag}), lines({kTag, kOtherTag}), 5, 6},
           Case{"NoValidators", false, lines({}), lines({}), 5, 6},
           Case{"TheOriginFails", false, lines({kTag}), lines({kTag}), 5, 6, 503},
           Case{"TheOriginHasNothing", false, lines({kTag}), lines({kTag}), 5, 6, 404},
       }) {
    EXPECT_FALSE(found(c)) << c.name;
  }
}

}  // namespace
}  // namespace proxy::sources
