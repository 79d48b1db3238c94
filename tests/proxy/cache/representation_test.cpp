#include "proxy/cache/combine.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

const std::string kTagged = "ETag: \"e\"\r\n";
const std::string kDated = "Last-Modified: Sun, 31 Dec 2023 00:00:00 GMT\r\n";
const std::string kDatedLater = "Last-Modified: Sun, 31 Dec 2023 00:00:01 GMT\r\n";
const std::string kGzipped = "Content-Encoding: gzip\r\n";
const std::string kTyped = "Content-Type: text/plain; charset=utf-8\r\n";

struct Representation : ::testing::Test {
  Ref<const Entry> stored(const std::string& lines) { return entry_of(budget, {.lines = lines}); }
  Budget budget{1 << 20};
};

TEST_F(Representation, IsTheSameIfNothingThatDescribesItDiffers) {  // RFC 9110 15.3.7.3
  const struct {
    const char* name;
    std::string stored, answer;
    bool same;
  } cases[] = {
      {"Tag", kTagged, kTagged, true},
      {"OtherTag", kTagged, "ETag: \"f\"\r\n", false},
      {"TagAlone", "", "", false},
      {"Gzip", kTagged + kGzipped, kTagged + kGzipped, true},
      {"GzipThenIdentity", kTagged + kGzipped, kTagged, false},
      {"IdentityThenGzip", kTagged, kTagged + kGzipped, false},
      {"GzipThenBrotli", kTagged + kGzipped, kTagged + "Content-Encoding: br\r\n", false},
      {"GzipByDate", kDated + kGzipped, kDated + kGzipped, true},
      {"GzipThenIdentityByDate", kDated + kGzipped, kDated, false},
      {"SpelledOtherwise", kTagged + kGzipped, kTagged + "Content-Encoding: X-GZip\r\n", true},
      {"IdentityIsNoCoding", kTagged, kTagged + "Content-Encoding: identity\r\n", true},
      {"InTwoLines", kTagged + "Content-Encoding: br, gzip\r\n",
       kTagged + "Content-Encoding: br\r\n" + kGzipped, true},
      {"InAnotherOrder", kTagged + "Content-Encoding: br, gzip\r\n",
       kTagged + "Content-Encoding: gzip, br\r\n", false},
      {"TypeIsNotRepeated", kTagged + kTyped, kTagged, true},
      {"Type", kTagged + kTyped, kTagged + "Content-Type: TEXT/plain; charset=UTF-8\r\n", true},
      {"OtherType", kTagged + kTyped, kTagged + "Content-Type: text/html\r\n", false},
      {"TypeNow", kTagged, kTagged + kTyped, false},
      {"TwoTypes", kTagged + kTyped, kTagged + kTyped + "Content-Type: text/html\r\n", false},
      {"OtherLanguage", kTagged + "Content-Language: de\r\n", kTagged + "Content-Language: en\r\n",
       false},
      {"Date", kTagged + kDated, kTagged + kDated, true},
      {"DateIsNotRepeated", kTagged + kDated, kTagged, true},
      {"OtherDateBesideTheTag", kTagged + kDated, kTagged + kDatedLater, false},
      {"DateNow", kTagged, kTagged + kDated, false},
  };
  for (const auto& [name, lines, answer, same] : cases) {
    EXPECT_EQ(same_representation(*stored(lines), Response(answer).head.fields), same) << name;
  }
}

TEST_F(Representation, IsOfOneVersionInAllCodings) {
  const auto entry = stored(kTagged + kGzipped + kDated);
  EXPECT_TRUE(same_version(*entry, Response(kTagged + kDatedLater).head.fields));
  EXPECT_FALSE(same_version(*entry, Response("ETag: W/\"e\"\r\n" + kGzipped).head.fields));
}

TEST(CompleteLength, ContradictsAnother) {
  const auto part = [](const char* complete) {
    return "Content-Range: bytes 5-9/" + std::string(complete) + "\r\n";
  };
  const struct {
    const char* name;
    unsigned status;
    std::string lines;
    std::optional<std::uint64_t> complete;
    std::uint64_t come;
    bool contradicts;
  } cases[] = {
      {"Part", 206, part("10"), 10, 5, false},
      {"PartOfAnother", 206, part("11"), 10, 5, true},
      {"PartOfUnknown", 206, part("*"), 10, 5, false},
      {"PartAfterAllThatCame", 206, part("10"), {}, 10, false},
      {"PartOfLessThanCame", 206, part("10"), {}, 11, true},
      {"Whole", 200, "Content-Length: 10\r\n", 10, 5, false},
      {"WholeOfAnother", 200, "Content-Length: 11\r\n", 10, 5, true},
      {"WholeOfLessThanCame", 200, "Content-Length: 10\r\n", {}, 11, true},
      {"ChunkedWhole", 200, "Transfer-Encoding: chunked\r\n", 10, 5, false},
  };
  for (const auto& [name, status, lines, complete, come, contradicts] : cases) {
    EXPECT_EQ(contradicts_length(Response(lines, status).head, complete, come), contradicts)
        << name;
  }
}

TEST_F(Representation, IsAskedForByItsCodings) {
  EXPECT_EQ(accepts_coding_of(*stored(kTagged)), "identity");
  EXPECT_EQ(accepts_coding_of(*stored(kTagged + kGzipped)), "gzip");
  EXPECT_EQ(accepts_coding_of(*stored("Content-Encoding: br\r\n" + kGzipped)), "br, gzip");
}

}  // namespace
}  // namespace proxy::cache
