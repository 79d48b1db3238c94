#include "proxy/http/validators.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/http/fields_of.hpp"

namespace proxy::http {
namespace {

using namespace std::chrono;

constexpr sys_seconds kNow{seconds(1'700'000'000)};
constexpr sys_seconds kModified{seconds(784'111'777)};  // Sun, 06 Nov 1994 08:49:37 GMT

TEST(EntityTag, IsQuotedTextPerhapsWeak) {  // RFC 9110 8.8.3
  EXPECT_EQ(parse_entity_tag("\"a\\b,c\"")->opaque, "a\\b,c");
  EXPECT_FALSE(parse_entity_tag("\"\"")->weak);
  EXPECT_TRUE(parse_entity_tag("W/\"a\"")->weak);
  for (const char* wrong :
       {"", "a", "\"", "\"a", "a\"", "w/\"a\"", "W/a", "W/", "\"a\"b\"", "\"a b\"", "'a'"})
    EXPECT_FALSE(parse_entity_tag(wrong)) << wrong;
}

TEST(EntityTag, ComparesByRfc9110Section8832) {
  const struct {
    const char* a;
    const char* b;
    bool strong;
    bool weak;
  } cases[] = {
      {"W/\"1\"", "W/\"1\"", false, true},
      {"W/\"1\"", "W/\"2\"", false, false},
      {"W/\"1\"", "\"1\"", false, true},
      {"\"1\"", "\"1\"", true, true},
      {"\"1\"", "1", false, true},
      {"1", "1", false, true},
      {"", "", false, false},
      {"\"a\"", "\"A\"", false, false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(strongly_equal(c.a, c.b), c.strong) << c.a << c.b;
    EXPECT_EQ(weakly_equal(c.a, c.b), c.weak) << c.a << c.b;
  }
}

struct Condition {
  const char* name;
  std::initializer_list<std::string_view> request;
  bool not_modified;
};

TEST(NotModified, FollowsRfc9110Section13) {
  const Condition cases[] = {
      {"no condition", {"Host: h"}, false},
      {"13.1.2 equal", {"If-None-Match: \"a,b\""}, true},
      {"13.1.2 weak", {"If-None-Match: W/\"a,b\""}, true},
      {"13.1.2 other", {"If-None-Match: \"a\""}, false},
      {"13.1.2 in a list", {"If-None-Match: \"x\", W/\"y\" , \"a,b\""}, true},
      {"13.1.2 on another line", {"If-None-Match: \"x\"", "If-None-Match: \"a,b\""}, true},
      {"13.1.2 any", {"If-None-Match: *"}, true},
      {"13.1.2 a part of a tag", {"If-None-Match: \"x,\"a,b\""}, false},
      {"13.1.2 a backslash escapes nothing", {"If-None-Match: \"x\\\", \"a,b\""}, true},
      {"13.1.2 cut", {"If-None-Match: \"a,b"}, false},
      {"13.1.2 empty", {"If-None-Match:  "}, false},
      {"13.1.3 equal", {"If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"}, true},
      {"13.1.3 later", {"If-Modified-Since: Sun, 06 Nov 1994 08:49:38 GMT"}, true},
      {"13.1.3 earlier", {"If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT"}, false},
      {"13.1.3 no date", {"If-Modified-Since: 0"}, false},
      {"13.1.3 two",
       {"If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT",
        "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"},
       false},
      {"13.2.2 the tag wins",
       {"If-None-Match: \"x\"", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"},
       false},
      {"13.2.2 the tag wins the other way",
       {"If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT", "If-None-Match: \"a,b\""},
       true},
  };
  for (const Condition& c : cases)
    EXPECT_EQ(not_modified(fields_of(c.request), {"\"a,b\"", kModified}, kNow), c.not_modified)
        << c.name;
}

TEST(NotModified, ForgivesForgottenQuotes) {
  EXPECT_TRUE(not_modified(fields_of({"If-None-Match: abc, x"}), {"\"abc\"", {}}, kNow));
  EXPECT_TRUE(not_modified(fields_of({"If-None-Match: \"abc\""}), {"abc", {}}, kNow));
}

TEST(JoinedTags, NameOursFirstAndTheClientsThatAreOthers) {  // RFC 9111 4.3.1
  const struct {
    const char* name;
    const char* own;
    std::initializer_list<std::string_view> request;
    const char* joined;
  } cases[] = {
      {"no condition", "\"a\"", {"Host: h"}, "\"a\""},
      {"another", "\"a\"", {"If-None-Match: \"b\""}, "\"a\", \"b\""},
      {"the same", "\"a\"", {"If-None-Match: \"a\""}, "\"a\""},
      {"the same but weak", "\"a\"", {"If-None-Match: W/\"a\""}, "\"a\""},
      {"weak ones", "W/\"a\"", {"If-None-Match: W/\"b\""}, "W/\"a\", W/\"b\""},
      {"a list on two lines",
       "\"a\"",
       {"If-None-Match: \"b,\", \"a\"", "If-None-Match: \"c\""},
       "\"a\", \"b,\", \"c\""},
      {"any", "\"a\"", {"If-None-Match: *"}, "\"a\""},
      {"no tags", "\"a\"", {"If-None-Match: b, \"c, w/\"d\""}, "\"a\""},
      {"ours is no tag", "a", {"If-None-Match: \"b\""}, "a"},
      {"none of ours", "", {"If-None-Match: \"b\""}, ""},
  };
  for (const auto& c : cases)
    EXPECT_EQ(joined_tags(c.own, fields_of(c.request)), c.joined) << c.name;
}

TEST(NotModified, NeedsSomethingToCompareWith) {
  EXPECT_FALSE(not_modified(fields_of({"If-None-Match: \"\""}), {}, kNow));
  EXPECT_TRUE(not_modified(fields_of({"If-None-Match: *"}), {}, kNow));
  EXPECT_FALSE(
      not_modified(fields_of({"If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"}), {}, kNow));
}

TEST(WriteConditions, AreTheOtherTwo) {
  EXPECT_TRUE(has_write_condition(fields_of({"If-Match: *"})));
  EXPECT_TRUE(has_write_condition(fields_of({"If-Unmodified-Since: x"})));
  EXPECT_FALSE(has_write_condition(fields_of({"If-None-Match: *", "If-Range: \"a\""})));
}

}  // namespace
}  // namespace proxy::http
