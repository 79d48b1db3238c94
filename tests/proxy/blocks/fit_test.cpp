#include "proxy/blocks/run_answer.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/blocks/object_of.hpp"

namespace proxy::blocks {
namespace {

constexpr std::uint64_t kLength = 5'000'000;
constexpr http::ByteRange kAsked{1'048'576, 2'097'151};

Fit fit(unsigned status, const std::string& lines, const std::string& object = "ETag: \"v1\"\r\n") {
  cache::Budget budget(1 << 20);
  const policy::TextAnswer answer(status, lines);
  const auto framing = http::response_framing(answer.head, "GET").value();
  const policy::TextRequest request("");
  return fit_of(answer.head, framing, *object_of(budget, kLength, object), kAsked, *request);
}

const std::string kTag = "ETag: \"v1\"\r\n";
const std::string kPart = kTag + "Content-Range: bytes 1048576-2097151/5000000\r\n";

TEST(Fit, IsOfExactlyThatRangeOfTheSameVersion) {
  EXPECT_EQ(fit(206, kPart + "Content-Length: 1048576\r\n"), Fit::range);
  EXPECT_EQ(fit(206, kPart + "Transfer-Encoding: chunked\r\n"), Fit::range);
  EXPECT_EQ(fit(206, kPart + "Content-Length: 1048575\r\n"), Fit::refused);
  for (const char* range : {"1048576-2097150/5000000", "1048577-2097151/5000000",
                            "0-2097151/5000000", "1048576-2097151/*"}) {
    EXPECT_EQ(fit(206, kTag + "Content-Range: bytes " + range + "\r\n"), Fit::refused) << range;
  }
  EXPECT_EQ(fit(206, kTag), Fit::refused);
  EXPECT_EQ(fit(206, kPart + "Content-Type: multipart/byteranges; boundary=a\r\n"), Fit::refused);
}

TEST(Fit, IsTheWholeOfTheSameVersionAndLength) {
  EXPECT_EQ(fit(200, kTag + "Content-Length: 5000000\r\n"), Fit::whole);
  EXPECT_EQ(fit(200, kTag + "Content-Length: 5000001\r\n"), Fit::changed);
  EXPECT_EQ(fit(200, kTag + "Transfer-Encoding: chunked\r\n"), Fit::changed);
}

TEST(Fit, AnotherVersionHasChanged) {
  EXPECT_EQ(fit(200, "ETag: \"v2\"\r\nContent-Length: 5000000\r\n"), Fit::changed);
  EXPECT_EQ(fit(200, "Content-Length: 5000000\r\n"), Fit::changed);
  EXPECT_EQ(fit(200, "ETag: W/\"v1\"\r\nContent-Length: 5000000\r\n"), Fit::changed);
  EXPECT_EQ(fit(206, "ETag: \"v2\"\r\nContent-Range: bytes 1048576-2097151/5000000\r\n"),
            Fit::changed);
  EXPECT_EQ(fit(206, kTag + "Content-Range: bytes 1048576-2097151/6000000\r\n"), Fit::changed);
  for (const unsigned status : {404, 410, 412, 416}) EXPECT_EQ(fit(status, ""), Fit::changed);
}

// Some origins give all codings of a resource one tag.
TEST(Fit, AnotherCodingHasChanged) {
  const std::string gzip = "Content-Encoding: gzip\r\n";
  const std::string sized = kPart + "Content-Length: 1048576\r\n";
  const std::string whole = kTag + "Content-Length: 5000000\r\n";
  EXPECT_EQ(fit(206, sized, kTag + gzip), Fit::changed);
  EXPECT_EQ(fit(206, sized + gzip, kTag), Fit::changed);
  EXPECT_EQ(fit(206, sized + gzip, kTag + gzip), Fit::range);
  EXPECT_EQ(fit(200, whole, kTag + gzip), Fit::changed);
  EXPECT_EQ(fit(200, whole + gzip, kTag + gzip), Fit::whole);
}

// An origin may code the bytes of the part alone.
TEST(Fit, ACodedPartTellsItsLength) {
  const std::string gzip = "Content-Encoding: gzip\r\n";
  EXPECT_EQ(fit(206, kPart + gzip + "Transfer-Encoding: chunked\r\n", kTag + gzip), Fit::refused);
}

TEST(Fit, AWholeHasNoContentRange) {
  const std::string range = "Content-Range: bytes 1048576-2097151/5000000\r\n";
  EXPECT_EQ(fit(200, kTag + range + "Content-Length: 1048576\r\n"), Fit::refused);
  EXPECT_EQ(fit(200, kTag + range + "Content-Length: 5000000\r\n"), Fit::refused);
}

TEST(Fit, AnErrorSaysNothingOfTheObject) {
  for (const unsigned status : {204, 301, 401, 403, 429, 500, 502, 503, 504}) {
    EXPECT_EQ(fit(status, ""), Fit::refused) << status;
  }
}

TEST(Fit, ADateTellsVersionsApartWhereThereIsNoTag) {
  const std::string date = "Last-Modified: Sun, 31 Dec 2023 00:00:00 GMT\r\n";
  const std::string part = "Content-Range: bytes 1048576-2097151/5000000\r\n";
  EXPECT_EQ(fit(206, part + date, date), Fit::range);
  EXPECT_EQ(fit(206, part + "Last-Modified: Sun, 31 Dec 2023 00:00:01 GMT\r\n", date),
            Fit::changed);
}

TEST(IsFirstOf, IsAPartOfWholeBlocksThatBeginsAsAskedAndEndsEarlier) {
  constexpr std::uint64_t kBlock = cache::kBlockBytes;
  constexpr std::uint64_t kAll = 10 * kBlock + 5;
  struct Case {
    http::ByteRange range;
    std::optional<std::uint64_t> complete;
    http::AskedRange asked;
    bool is_first;
  };
  for (const Case& c : {
           Case{{0, kBlock - 1}, kAll, {0, 3 * kBlock - 1}, true},
           Case{{kBlock, 3 * kBlock - 1}, kAll, {kBlock, {}}, true},
           Case{{0, kBlock - 1}, kAll, {0, kBlock - 1}, false},      // all that was asked for
           Case{{0, kAll - 1}, kAll, {0, {}}, false},                // likewise
           Case{{0, kAll - 1}, kAll, {0, 99 * kBlock}, false},       // likewise
           Case{{0, kBlock - 2}, kAll, {0, 3 * kBlock - 1}, false},  // no whole block
           Case{{kBlock, 2 * kBlock - 1}, kAll, {0, {}}, false},     // not the first
           Case{{0, kBlock - 1}, {}, {0, {}}, false},                // of what?
       }) {
    EXPECT_EQ(is_first_of({c.range, c.complete}, c.asked), c.is_first) << c.range.last;
  }
}

}  // namespace
}  // namespace proxy::blocks
