#include "proxy/http/vary.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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

// What signs a browser in to a dashboard is not forwarded, so no response depends on it.
TEST(Variant, LeavesOutTheCookieOfADashboard) {
  const auto vary = fields_of({"Vary: Cookie"});
  const auto signed_in = fields_of({"Cookie: a=1; hearsay-3128=0123; b=2"});
  const Variant variant(vary, signed_in);
  EXPECT_EQ(variant.mark(), "cookie=\"a=1;%20b=2\"");
  EXPECT_TRUE(variant.matches(fields_of({"Cookie: a=1; b=2"})));
  EXPECT_FALSE(variant.matches(fields_of({"Cookie: a=1"})));
  const Variant nothing_else(vary, fields_of({"Cookie: hearsay-3128=0123"}));
  EXPECT_TRUE(nothing_else.matches(fields_of({}))) << "as without the field";
  EXPECT_FALSE(Variant(vary, fields_of({"Cookie: hearsay-x=1"})).matches(fields_of({})));
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

std::string codings(std::size_t bytes, char of = 'a') {
  return "Accept-Encoding: " + std::string(bytes, of);
}

TEST(Variant, IsNotSelectedByFieldsOfMoreThan4KiBTogether) {
  struct LongCase {
    const char* name;
    std::string vary;
    std::vector<std::string> request;
    bool too_long;
  };
  constexpr auto kMost = NormalForms::kMostBytes;
  const std::string half = std::string(kMost / 2, 'b');
  const LongCase cases[] = {
      {"just not", "Vary: Accept-Encoding", {codings(kMost)}, false},
      {"one byte", "Vary: Accept-Encoding", {codings(kMost + 1)}, true},
      {"56 KB", "Vary: Accept-Encoding", {codings(56'000)}, true},
      {"two fields", "Vary: a, accept-encoding", {"A: " + half, codings(kMost / 2)}, false},
      {"two long fields", "Vary: a, accept-encoding", {"A: " + half, codings(kMost / 2 + 1)}, true},
      {"two lines", "Vary: A", {"A: " + half, "A: " + half + "b"}, true},
      {"a name twice", "Vary: A, a", {"A: " + half, "B: " + half + "b"}, false},
      {"other fields", "Vary: A", {"A: " + half, codings(56'000)}, false},
      {"no Vary", "X: A", {codings(56'000)}, false},
  };
  for (const LongCase& c : cases) {
    Fields request;
    for (const std::string& line : c.request) {
      const auto colon = line.find(':');
      request.append(std::string_view(line).substr(0, colon),
                     std::string_view(line).substr(colon + 2));
    }
    const Fields response = fields_of({c.vary});
    EXPECT_EQ(Variant::is_too_long(response, request), c.too_long) << c.name;
    const Variant variant(response, request);
    EXPECT_EQ(variant.never_matches(), c.too_long) << c.name;
    EXPECT_EQ(variant.matches(request), !c.too_long) << c.name;
  }
}

TEST(Variant, IsNotSelectedByATooLongRequestThatIsLikeAShortOne) {
  const Variant variant(fields_of({"Vary: Accept-Encoding"}), fields_of({"Accept-Encoding: gzip"}));
  const std::string long_one = "Accept-Encoding: gzip" + std::string(5000, ',');
  EXPECT_FALSE(variant.matches(fields_of({long_one})));
  const Variant empty(fields_of({"Vary: Accept-Encoding"}), fields_of({"Accept-Encoding: "}));
  EXPECT_FALSE(empty.matches(fields_of({codings(5000)})));
}

TEST(Variant, MarkedFieldsCountAmongTheSelectingBytes) {
  const std::string value(NormalForms::kMostBytes, 'a');
  Fields request = fields_of({"A: 1"});
  request.append({field::unknown, "X-Forwarded-Host", value, true});
  EXPECT_FALSE(Variant::is_too_long({}, request));
  EXPECT_TRUE(Variant::is_too_long(fields_of({"Vary: A"}), request));
}

TEST(NormalForms, MakesTheFormOfEachFieldOnceForAllVariants) {
  const std::string wanted = codings(2000);
  const Fields request = fields_of({"Cookie: a", wanted});
  NormalForms forms(request);
  for (int i = 0; i < 16; ++i) {
    const std::string stored = codings(1990, static_cast<char>('b' + i));
    const Variant variant(fields_of({"Vary: Accept-Encoding, X-Absent"}), fields_of({stored}));
    EXPECT_FALSE(variant.matches(forms));
  }
  EXPECT_EQ(forms.count(), 1U);
  const Variant same(fields_of({"Vary: Cookie, accept-encoding"}),
                     fields_of({wanted, "Cookie: a"}));
  EXPECT_TRUE(same.matches(forms));
  EXPECT_EQ(forms.count(), 2U);
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
