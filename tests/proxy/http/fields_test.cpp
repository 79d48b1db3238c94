#include "proxy/http/fields.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/http/head.hpp"
#include "tests/proxy/http/fields_of.hpp"

namespace proxy::http {
namespace {

std::vector<std::string> walk(Members members) {
  std::vector<std::string> found;
  while (const auto member = members.next()) found.emplace_back(*member);
  return found;
}

TEST(Fields, FindsByIdAndByNameInAnyCase) {
  const Fields fields = fields_of({"hOsT: a", "X-Own: 1", "Via: 1.1 a", "via: 1.1 b"});
  EXPECT_EQ(fields.value(field::host), "a");
  EXPECT_EQ(fields.find("x-own")->value, "1");
  EXPECT_EQ(fields.find("x-other"), nullptr);
  EXPECT_EQ(fields.count(field::via), 2u);
  EXPECT_EQ(fields.find(field::via)->value, "1.1 a");
  EXPECT_FALSE(fields.has(field::age));
  EXPECT_EQ(fields.value(field::age), "");
}

TEST(Fields, KeepOrderBeyondTheirInlineRoom) {
  Fields fields;
  for (int i = 0; i < 100; ++i) fields.append(i == 70 ? "Age" : "X", "v");
  EXPECT_EQ(fields.size(), 100u);
  EXPECT_EQ(fields.find(field::age), &*(fields.begin() + 70));
}

TEST(FieldSet, HasEachOfItsFieldsAndNoOther) {
  constexpr FieldSet kSet(field::via, field::host, field::xref, field::accept);
  for (std::size_t id = 0; id <= static_cast<std::size_t>(field::xref); ++id) {
    const auto one = static_cast<field>(id);
    const bool is_in =
        one == field::via || one == field::host || one == field::xref || one == field::accept;
    EXPECT_EQ(kSet.has(one), is_in) << to_string(one);
  }
  EXPECT_FALSE(FieldSet().has(field::unknown));
}

TEST(Fields, AreCopiedOnlyIfOneIsLeftOut) {
  Fields fields = fields_of({"Host: a", "Via: 1.1 a", "X: 1", "Via: 1.1 b"});
  const auto is_via = [](const Field& line) { return line.id == field::via; };
  EXPECT_FALSE(without(fields, [](const Field&) { return false; }));
  const auto others = without(fields, is_via);
  ASSERT_TRUE(others);
  EXPECT_EQ(others->size(), 2u);
  EXPECT_FALSE(others->may_have(field::via));
  EXPECT_EQ(others->find("x")->value, "1");
}

TEST(Field, KnowsItsLineOnlyIfItIsWrittenAsWeWouldWriteIt) {
  const auto line_of = [](std::string_view line) {
    std::string head = "HTTP/1.1 200 OK\r\n" + std::string(line) + "\r\n";
    return std::string(parse_response_head(head).value().fields.begin()->line());
  };
  for (const char* as_written :
       {"A: b\r\n", "Date: x y\r\n", "X-Long-Name-Of-Many: 0123456789abcdef\r\n"}) {
    EXPECT_EQ(line_of(as_written), as_written);
  }
  for (const char* other : {"A:b\r\n", "A:  b\r\n", "A: b \r\n", "A:\tb\r\n", "A: \tb\r\n",
                            "A: b\t\r\n", "A:\r\n", "A: \r\n", "A:  \r\n"}) {
    EXPECT_EQ(line_of(other), "") << other;
  }
}

TEST(Members, FollowTheListRuleOfRfc9110Section561) {
  const struct {
    const char* name;
    const char* value;
    std::vector<std::string> members;
  } cases[] = {
      {"one", "close", {"close"}},
      {"several", "a, b ,c", {"a", "b", "c"}},
      {"empty members are skipped", ", a,, ,b ,", {"a", "b"}},
      {"nothing", " , ", {}},
      {"a comma in quotes", "a=\"x, y\", b", {"a=\"x, y\"", "b"}},
      {"an escaped quote", "a=\"x\\\", y\", b", {"a=\"x\\\", y\"", "b"}},
      {"a quote that never closes", "a, b=\"x, y", {"a", "b=\"x, y"}},
      {"a backslash at the end", "a, \"b\\", {"a", "\"b\\"}},
  };
  for (const auto& c : cases) EXPECT_EQ(walk(Members(c.value)), c.members) << c.name;
}

TEST(Members, CombineAllLinesOfOneField) {
  const Fields fields = fields_of({"Vary: a, b", "Via: x", "vary: ,", "Vary: \"c", "Vary: d"});
  EXPECT_EQ(walk(Members(fields, field::vary)), (std::vector<std::string>{"a", "b", "\"c", "d"}));
  EXPECT_TRUE(walk(Members(fields, field::age)).empty());
  EXPECT_TRUE(has_member(fields, field::vary, "D"));
  EXPECT_FALSE(has_member(fields, field::vary, "x"));
}

}  // namespace
}  // namespace proxy::http
