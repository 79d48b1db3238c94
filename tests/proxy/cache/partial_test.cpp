#include "proxy/cache/partial.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

using Kind = http::Selection::Kind;

const std::string kOld = "Last-Modified: Sun, 31 Dec 2023 00:00:00 GMT\r\n";
const std::string kRecent = "Last-Modified: Sun, 31 Dec 2023 23:59:30 GMT\r\n";
const std::string kPartTag = "ETag: \"e\"\r\n";
const std::string kRange = "Range: bytes=1-2\r\n";

struct PartCase {
  const char* name;
  Kind expected;
  std::string request;
  std::string response = kPartTag + kOld;
  unsigned status = 200;
};

class PartsWanted : public ::testing::TestWithParam<PartCase> {};

TEST_P(PartsWanted, AreWhatTheClauseSays) {
  const PartCase& tested = GetParam();
  Budget budget(1 << 20);
  Stock stock;
  stock.lines = tested.response;
  stock.status = tested.status;
  stock.body = 10;
  const auto entry = entry_of(budget, stock);
  const Request request(tested.request);
  EXPECT_EQ(parts_wanted(request.facts, *entry).kind, tested.expected);
}

INSTANTIATE_TEST_SUITE_P(
    Clauses, PartsWanted,
    ::testing::Values(
        PartCase{"s14_2_Range", Kind::parts, kRange}, PartCase{"s14_2_NoRange", Kind::whole, ""},
        PartCase{"s14_2_TwoRangeFields", Kind::whole, kRange + kRange},
        PartCase{"s14_2_Not200", Kind::whole, kRange, kPartTag, 404},
        PartCase{"s15_5_17_Unsatisfiable", Kind::none, "Range: bytes=10-\r\n"},
        PartCase{"s13_1_5_SameTag", Kind::parts, kRange + "If-Range: \"e\"\r\n"},
        PartCase{"s13_1_5_OtherTag", Kind::whole, kRange + "If-Range: \"f\"\r\n"},
        PartCase{"s13_1_5_OtherTagUnsatisfiable", Kind::whole,
                 "Range: bytes=10-\r\nIf-Range: \"f\"\r\n"},
        PartCase{"s13_1_5_WeakTag", Kind::whole, kRange + "If-Range: W/\"e\"\r\n",
                 "ETag: W/\"e\"\r\n"},
        PartCase{"s13_1_5_WeakTagStored", Kind::whole, kRange + "If-Range: \"e\"\r\n",
                 "ETag: W/\"e\"\r\n"},
        PartCase{"s13_1_5_TagWithoutQuotes", Kind::whole, kRange + "If-Range: e\r\n"},
        PartCase{"s13_1_5_ListOfTags", Kind::whole, kRange + "If-Range: \"e\", \"f\"\r\n"},
        PartCase{"s13_1_5_NoTagStored", Kind::whole, kRange + "If-Range: \"e\"\r\n", kOld},
        PartCase{"s13_1_5_SameDate", Kind::parts,
                 kRange + "If-Range: Sun, 31 Dec 2023 00:00:00 GMT\r\n"},
        PartCase{"s13_1_5_LaterDate", Kind::whole,
                 kRange + "If-Range: Sun, 31 Dec 2023 00:00:01 GMT\r\n"},
        PartCase{"s8_8_2_2_WeakDate", Kind::whole,
                 kRange + "If-Range: Sun, 31 Dec 2023 23:59:30 GMT\r\n", kRecent},
        PartCase{"s13_1_5_Empty", Kind::whole, kRange + "If-Range: \r\n", ""},
        PartCase{"s13_1_5_Twice", Kind::whole, kRange + "If-Range: \"e\"\r\nIf-Range: \"e\"\r\n"}),
    [](const auto& tested) { return tested.param.name; });

const std::string kPart = kPartTag + "Content-Range: bytes 10-19/";  // with all ten bytes

// RFC 9111 3.3: a part answers requests for bytes that it has.
INSTANTIATE_TEST_SUITE_P(
    OfAPart, PartsWanted,
    ::testing::Values(
        PartCase{"AllOfIt", Kind::parts, "Range: bytes=10-19\r\n", kPart + "100\r\n", 206},
        PartCase{"SomeOfIt", Kind::parts, "Range: bytes=12-13\r\n", kPart + "100\r\n", 206},
        PartCase{"SeveralOfIt", Kind::parts, "Range: bytes=12-13,18-18\r\n", kPart + "100\r\n",
                 206},
        PartCase{"BeginsBefore", Kind::whole, "Range: bytes=9-13\r\n", kPart + "100\r\n", 206},
        PartCase{"EndsBehind", Kind::whole, "Range: bytes=12-20\r\n", kPart + "100\r\n", 206},
        PartCase{"OneOfTwoIsBehind", Kind::whole, "Range: bytes=12-13,30-31\r\n", kPart + "100\r\n",
                 206},
        PartCase{"BehindTheEnd", Kind::whole, "Range: bytes=100-\r\n", kPart + "100\r\n", 206},
        PartCase{"All", Kind::whole, "", kPart + "100\r\n", 206},
        PartCase{"OpenAndCutByTheEnd", Kind::parts, "Range: bytes=12-\r\n", kPart + "20\r\n", 206},
        PartCase{"BeyondTheEnd", Kind::parts, "Range: bytes=12-50\r\n", kPart + "20\r\n", 206},
        PartCase{"OpenEndIsElsewhere", Kind::whole, "Range: bytes=12-\r\n", kPart + "21\r\n", 206},
        PartCase{"Suffix", Kind::parts, "Range: bytes=-3\r\n", kPart + "20\r\n", 206},
        PartCase{"SuffixIsElsewhere", Kind::whole, "Range: bytes=-3\r\n", kPart + "100\r\n", 206},
        PartCase{"OfUnknownLength", Kind::parts, "Range: bytes=12-13\r\n", kPart + "*\r\n", 206},
        PartCase{"OpenOfUnknownLength", Kind::whole, "Range: bytes=12-\r\n", kPart + "*\r\n", 206},
        PartCase{"SuffixOfUnknownLength", Kind::whole, "Range: bytes=-3\r\n", kPart + "*\r\n", 206},
        PartCase{"s13_1_5_SameTag", Kind::parts, "Range: bytes=12-13\r\nIf-Range: \"e\"\r\n",
                 kPart + "100\r\n", 206},
        PartCase{"s13_1_5_OtherTag", Kind::whole, "Range: bytes=12-13\r\nIf-Range: \"f\"\r\n",
                 kPart + "100\r\n", 206},
        PartCase{"NotOneThatItLacks", Kind::whole, "Range: bytes=10-20\r\n",
                 kPartTag + "Content-Range: bytes 10-20/100\r\n", 206},
        PartCase{"OneThatItHasOfThose", Kind::parts, "Range: bytes=10-19\r\n",
                 kPartTag + "Content-Range: bytes 10-20/100\r\n", 206},
        PartCase{"ShortAtTheEnd", Kind::parts, "Range: bytes=-3\r\n",
                 kPartTag + "Content-Range: bytes 10-20/21\r\n", 206}),
    [](const auto& tested) { return tested.param.name; });

TEST(StrongValidator, IsAStrongTagElseASettledDate) {  // RFC 9110 8.8.2.2, 8.8.3.2
  Budget budget(1 << 20);
  const struct {
    std::string lines, validator;
  } cases[] = {
      {kPartTag, "\"e\""},
      {kPartTag + kOld, "\"e\""},
      {kOld, "Sun, 31 Dec 2023 00:00:00 GMT"},
      {kRecent, ""},
      {"ETag: W/\"e\"\r\n" + kOld, ""},
      {"ETag: e\r\n" + kOld, ""},
      {"", ""},
  };
  for (const auto& [lines, validator] : cases) {
    Stock stock;
    stock.lines = lines;
    EXPECT_EQ(strong_validator(*entry_of(budget, stock)), validator) << lines;
  }
}

struct Text : ::testing::Test {
  PartialText of(const http::ByteRanges& parts) {
    Stock stock;
    stock.lines =
        kPartTag + "Content-Type: text/plain\r\nDate: " + std::string(kStartDate) + "\r\n";
    stock.body = 10;
    return partial_text(*entry_of(budget, stock), parts, "xyz");
  }
  Budget budget{1 << 20};
};

// RFC 9530 2, 3: Content-Digest is about the content of one message, Repr-Digest about the whole
// representation.
TEST_F(Text, LeavesOutTheChecksumOfTheWholeContent) {
  Stock stock;
  stock.lines = "Content-Digest: sha-256=:x=:\r\nContent-MD5: y\r\nRepr-Digest: sha-256=:z=:\r\n";
  stock.body = 10;
  const auto head = partial_text(*entry_of(budget, stock), {{1, 2}}, "xyz").head;
  EXPECT_EQ(head.find("Content-Digest"), std::string::npos) << head;
  EXPECT_EQ(head.find("Content-MD5"), std::string::npos) << head;
  EXPECT_NE(head.find("Repr-Digest"), std::string::npos) << head;
}

TEST_F(Text, OfOnePartSaysWhichInItsHead) {  // RFC 9110 15.3.7.1
  const auto text = of({{1, 2}});
  EXPECT_EQ(text.head,
            "HTTP/1.1 206 Partial Content\r\nETag: \"e\"\r\nContent-Type: text/plain\r\n"
            "Date: Mon, 01 Jan 2024 00:00:00 GMT\r\nVia: 1.1 us\r\n"
            "Content-Range: bytes 1-2/10\r\n");
  EXPECT_TRUE(text.openings.empty());
  EXPECT_EQ(text.closing, "");
}

TEST_F(Text, OfAPartTellsTheLengthThatThePartTold) {
  const struct {
    const char *said, *told;
  } cases[] = {{"bytes 10-19/100", "bytes 12-13/100"},
               {"bytes 10-19/*", "bytes 12-13/*"},
               {"bytes 10-20/21", "bytes 12-13/*"}};  // the part has fewer bytes than it states
  for (const auto& [said, told] : cases) {
    Stock stock;
    stock.status = 206;
    stock.lines =
        kPartTag + "Date: " + std::string(kStartDate) + "\r\nContent-Range: " + said + "\r\n";
    stock.body = 10;
    EXPECT_EQ(partial_text(*entry_of(budget, stock), {{12, 13}}, "").head,
              "HTTP/1.1 206 Partial Content\r\nETag: \"e\"\r\n"
              "Date: Mon, 01 Jan 2024 00:00:00 GMT\r\nVia: 1.1 us\r\n"
              "Content-Range: " +
                  std::string(told) + "\r\n");
  }
}

TEST_F(Text, OfSeveralSaysItBeforeEachAndNowhereElse) {  // RFC 9110 14.6, 15.3.7.2
  const auto text = of({{8, 9}, {1, 2}});
  EXPECT_EQ(text.head,
            "HTTP/1.1 206 Partial Content\r\nETag: \"e\"\r\n"
            "Date: Mon, 01 Jan 2024 00:00:00 GMT\r\nVia: 1.1 us\r\n"
            "Content-Type: multipart/byteranges; boundary=xyz\r\n");
  const std::vector<std::string> openings{
      "\r\n--xyz\r\nContent-Type: text/plain\r\nContent-Range: bytes 8-9/10\r\n\r\n",
      "\r\n--xyz\r\nContent-Type: text/plain\r\nContent-Range: bytes 1-2/10\r\n\r\n"};
  EXPECT_EQ(text.openings, openings);
  EXPECT_EQ(text.closing, "\r\n--xyz--\r\n");
}

}  // namespace
}  // namespace proxy::cache
