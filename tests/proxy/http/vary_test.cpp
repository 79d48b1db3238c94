#include "proxy/http/vary.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/proxy/http/fields_of.hpp"

namespace proxy::http {
namespace {

using Lines = std::initializer_list<std::string_view>;

struct VaryCase {
  const char* name;
  Lines vary;
  Lines first;
  Lines second;
  bool matches;
};

TEST(Variant, IsSelectedByMarkedFieldsOfItsRequestToo) {
  Fields marked = fields_of({"A: 1"});
  marked.append({field::unknown, "X-Forwarded-Host", "evil", true});
  const Variant variant(fields_of({"Vary: A"}), marked);
  EXPECT_EQ(variant.mark(), "a=\"1\", x-forwarded-host=\"evil\"");
  EXPECT_TRUE(variant.matches(marked));
  EXPECT_FALSE(variant.matches(fields_of({"A: 1"})));
  EXPECT_FALSE(Variant(fields_of({"Vary: A"}), fields_of({"A: 1"})).matches(marked));
  EXPECT_FALSE(Variant().matches(marked)) << "without Vary, too";
  Fields many;
  for (int i = 0; i < 65; ++i) many.append({field::unknown, "X-Forwarded-A", "", true});
  EXPECT_TRUE(Variant({}, many).never_matches()) << "bounded";
}

TEST(Variant, MatchesByRfc9111Section41) {
  const VaryCase cases[] = {
      {"no Vary", {}, {"A: 1"}, {"A: 2"}, true},
      {"empty Vary", {"Vary:  "}, {"A: 1"}, {"A: 2"}, true},
      {"equal", {"Vary: A"}, {"A: 1"}, {"a: 1"}, true},
      {"other", {"Vary: A"}, {"A: 1"}, {"A: 2"}, false},
      {"case counts", {"Vary: A"}, {"A: x"}, {"A: X"}, false},
      {"absent in both", {"Vary: A"}, {"B: 1"}, {"B: 2"}, true},
      {"absent in the first", {"Vary: A"}, {}, {"A: 1"}, false},
      {"absent in the second", {"Vary: A"}, {"A: 1"}, {}, false},
      {"empty is not absent", {"Vary: A"}, {"A:  "}, {}, false},
      {"several, one differs", {"Vary: A, B"}, {"A: 1", "B: 1"}, {"A: 1", "B: 2"}, false},
      {"several lines of Vary", {"Vary: A", "vary: B"}, {"A: 1", "B: 1"}, {"A: 1", "B: 2"}, false},
      {"repeated names", {"Vary: A, a, A"}, {"A: 1"}, {"A: 1"}, true},
      {"star", {"Vary: *"}, {"A: 1"}, {"A: 1"}, false},
      {"star at any place", {"Vary: A, *"}, {"A: 1"}, {"A: 1"}, false},
      {"star on another line", {"Vary: A", "Vary: *"}, {"A: 1"}, {"A: 1"}, false},
      {"no token", {"Vary: A B"}, {"A: 1"}, {"A: 1"}, false},
      {"lines are one list", {"Vary: A"}, {"A: 1", "A: 2"}, {"A: 1,2"}, true},
      {"lines are one list, spaces or not", {"Vary: A"}, {"A: 1, 2"}, {"A: 1", "A:  2 "}, true},
      {"spaces around members", {"Vary: A"}, {"A: 1,2"}, {"A: 1 ,\t2"}, true},
      {"spaces in members count", {"Vary: A"}, {"A: 1 2"}, {"A: 12"}, false},
      {"spaces in quotes count", {"Vary: A"}, {"A: \"1, 2\""}, {"A: \"1,2\""}, false},
      {"empty members", {"Vary: A"}, {"A: 1,2"}, {"A: 1,,2"}, false},
      {"an empty member first", {"Vary: A"}, {"A: 1,2"}, {"A: ,1,2"}, false},
      {"an empty member last", {"Vary: A"}, {"A: 1,2"}, {"A: 1,2,"}, false},
      {"an empty line", {"Vary: A"}, {"A: 1"}, {"A: 1", "A: "}, false},
      {"one comma is not nothing", {"Vary: A"}, {"A: ,"}, {"A: "}, false},
      {"empty members of a known list",
       {"Vary: Accept-Encoding"},
       {"Accept-Encoding: br,gzip"},
       {"Accept-Encoding: ,br,,gzip,"},
       true},
      {"empty list is not absent", {"Vary: A"}, {"A: ,"}, {}, false},
      {"order counts", {"Vary: A"}, {"A: 1", "A: 2"}, {"A: 2", "A: 1"}, false},
      {"spaces of what is no list",
       {"Vary: Cookie"},
       {"Cookie: a=1, b=2"},
       {"Cookie: a=1,b=2"},
       false},
      {"an agent is no list",
       {"Vary: User-Agent"},
       {"User-Agent: a (b, c)"},
       {"User-Agent: a (b,c)"},
       false},
      {"spaces in Accept",
       {"Vary: Accept"},
       {"Accept: a/b, c/d;p=1"},
       {"Accept: a/b,c/d ; p=1"},
       true},
      {"order in Accept", {"Vary: Accept"}, {"Accept: a/b, c/d"}, {"Accept: c/d, a/b"}, true},
      {"weights in Accept",
       {"Vary: Accept"},
       {"Accept: a, b;q=0.5"},
       {"Accept: a;q=0.5, b"},
       false},
      {"case counts in Accept", {"Vary: Accept"}, {"Accept: a;v=X"}, {"Accept: a;v=x"}, false},
      {"quotes in Accept",
       {"Vary: Accept"},
       {"Accept: a;v=\"; q=1\""},
       {"Accept: a;v=\";\""},
       false},
      {"case of codings",
       {"Vary: accept-encoding"},
       {"Accept-Encoding: GZIP, br"},
       {"Accept-Encoding: br,gzip"},
       true},
      {"case of languages",
       {"Vary: Accept-Language"},
       {"Accept-Language: en-GB"},
       {"Accept-Language: en-gb"},
       true},
      {"spelling of weights",
       {"Vary: Accept-Language"},
       {"Accept-Language: en;q=1.0, de;q=0.50, fr;q=0.0"},
       {"Accept-Language: fr;Q=0, en, de; q=0.5"},
       true},
      {"a weight of nothing is one",
       {"Vary: Accept-Language"},
       {"Accept-Language: en"},
       {"Accept-Language: en;q=0.1"},
       false},
  };
  for (const VaryCase& c : cases) {
    const Variant variant(fields_of(c.vary), fields_of(c.first));
    EXPECT_EQ(variant.matches(fields_of(c.second)), c.matches) << c.name;
  }
}

TEST(Variant, OwnsItsText) {
  Variant variant;
  {
    const std::string vary = "Vary: X-A", request = "X-A: a value too long for a small string";
    variant = Variant(fields_of({vary}), fields_of({request}));
  }
  EXPECT_TRUE(variant.matches(fields_of({"x-a: a value too long for a small string"})));
  EXPECT_GT(variant.footprint(), 40u);
}

TEST(Variant, MarkIsSquidsAndSorted) {
  const auto mark = [](Lines vary, Lines request) {
    return Variant(fields_of(vary), fields_of(request)).mark();
  };
  EXPECT_EQ(mark({"Vary: Accept-Encoding"}, {"Accept-Encoding: gzip"}), "accept-encoding=\"gzip\"");
  EXPECT_EQ(mark({"Vary: Cookie, Accept-Encoding"}, {"Cookie: a=\"b c\""}),
            "accept-encoding, cookie=\"a=%22b%20c%22\"");
  EXPECT_EQ(mark({"Vary: B, a"}, {"A: %"}), mark({"Vary: A", "Vary: b"}, {"A: %"}));
  EXPECT_EQ(mark({"Vary: *"}, {}), "*");
  EXPECT_EQ(mark({}, {}), "");
}

TEST(Variant, NamesAreBounded) {
  std::string names = "Vary: a0";
  for (int i = 1; i < 64; ++i) names += ",a" + std::to_string(i);
  EXPECT_FALSE(Variant(fields_of({names}), {}).never_matches());
  names += ",b";
  EXPECT_TRUE(Variant(fields_of({names}), {}).never_matches());
}

}  // namespace
}  // namespace proxy::http
