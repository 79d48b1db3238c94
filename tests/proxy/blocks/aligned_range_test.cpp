#include "proxy/blocks/presence.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/policy/requests.hpp"

namespace proxy::blocks {
namespace {

constexpr std::uint64_t kLong = 1'000'000'000;

std::string wide(const std::string& lines, const KnownObject& known = {0, kLong}) {
  const policy::TextRequest request(lines);
  const auto range = aligned_to_blocks((*request).facts, known);
  return range ? http::range_field(*range) : "";
}

TEST(AlignedRange, IsWholeBlocksAroundTheFirstRange) {
  const struct {
    const char* range;
    const char* asked;
  } cases[] = {
      {"bytes=0-65535", "bytes=0-1048575"},
      {"bytes=0-1048575", "bytes=0-1048575"},
      {"bytes=1048575-1114110", "bytes=0-2097151"},
      {"bytes=3000000-3099999", "bytes=2097152-3145727"},
      {"bytes=3000000-", "bytes=2097152-"},
      {"bytes=0-", "bytes=0-"},
      {"bytes=0-99999999999999999999999", "bytes=0-"},
      {"bytes=3000000-3099999, 0-99999", "bytes=2097152-3145727"},
      {"bytes=3000000-,0-99999", "bytes=2097152-"},
  };
  for (const auto& [range, asked] : cases) {
    EXPECT_EQ(wide(std::string("Range: ") + range + "\r\n"), asked) << range;
  }
}

TEST(AlignedRange, EndsAtTheKnownEndOfTheObject) {
  const struct {
    const char* range;
    const char* asked;
  } cases[] = {
      {"bytes=0-700000", "bytes=0-815956"},
      {"bytes=0-900000", "bytes=0-815956"},
      {"bytes=750000-", "bytes=0-"},
      {"bytes=815957-900000", ""},
      {"bytes=815957-", ""},
  };
  for (const auto& [range, asked] : cases) {
    EXPECT_EQ(wide(std::string("Range: ") + range + "\r\n", {0, 815'957}), asked) << range;
  }
}

// Not every origin shortens a range that ends behind the object.
TEST(AlignedRange, EndsAsTheClientsIfTheLengthIsUnknown) {
  const struct {
    const char* range;
    const char* asked;
  } cases[] = {
      {"bytes=0-700000", ""},
      {"bytes=0-1048574", ""},
      {"bytes=0-1048575", "bytes=0-1048575"},
      {"bytes=1000000-2097150", ""},
      {"bytes=1000000-2500000", "bytes=1000000-2500000"},
      {"bytes=3000000-", "bytes=2097152-"},
      {"bytes=3000000-6000000, 0-99999", ""},
      {"bytes=3000000-,0-99999", ""},
      // an origin may refuse to give several
      {"bytes=0-9999, 200000-299999", "bytes=0-1048575"},
      {"bytes=3000000-3000009, 9000000-", "bytes=2097152-3145727"},
      {"bytes=0-9, 200000-200009", ""},
  };
  for (const auto& [range, asked] : cases) {
    EXPECT_EQ(wide(std::string("Range: ") + range + "\r\n", {}), asked) << range;
  }
}

// F6: storage may refuse several at once.
TEST(AlignedRange, IsABlockForSeveralShortRangesOfAMirroredServer) {
  for (const auto& [range, asked] : std::vector<std::pair<std::string, std::string>>{
           {"bytes=0-9, 200000-200009", "bytes=0-1048575"},
           {"bytes=3000000-3000000,3000002-3000002", "bytes=2097152-3145727"},
           {"bytes=200000-200009, 0-9", ""},
           {"bytes=0-9", ""}}) {
    policy::TextRequest request("Range: " + range + "\r\n");
    auto facts = (*request).facts;
    EXPECT_FALSE(aligned_to_blocks(facts)) << range;
    facts.freshness.by_class = true;
    const auto whole = aligned_to_blocks(facts);
    EXPECT_EQ(whole ? http::range_field(*whole) : "", asked) << range;
  }
}

TEST(AlignedRange, IsNoneIfTheRequestSignsItsOwn) {
  const policy::TextRequest request("Range: bytes=0-2097151\r\n",
                                    "GET http://a.test/x?Signature=a HTTP/1.1");
  EXPECT_FALSE(aligned_to_blocks((*request).facts, {0, kLong}));
}

TEST(AlignedRange, BeginsAfterTheStoredBytes) {
  constexpr std::uint64_t kHeld = 4 << 20;
  const struct {
    const char* range;
    const char* asked;
  } cases[] = {
      {"bytes=0-", "bytes=4194304-"},
      {"bytes=4194303-4294303", ""},
      {"bytes=4194303-5294303", "bytes=4194304-5294303"},
      {"bytes=4194304-", "bytes=4194304-"},
      {"bytes=6000000-", "bytes=5242880-"},
      {"bytes=0-65535", ""},
      {"bytes=3145728-4194303", "bytes=3145728-4194303"},
  };
  for (const auto& [range, asked] : cases) {
    EXPECT_EQ(wide(std::string("Range: ") + range + "\r\n", {kHeld, {}}), asked) << range;
  }
}

TEST(AlignedRange, IsNothingElse) {
  for (const char* lines :
       {"", "Range: bytes=0-65534\r\n", "Range: bytes=-100000\r\n", "Range: bytes=5-4\r\n",
        "Range: bytes=200000-299999,0-9\r\n", "Range: bytes=0-9,200000-200009\r\n",
        "Range: bytes=0-99999,-100000\r\n", "Range: lines=0-99999\r\n",
        "Range: bytes=99999999999999999999-\r\n",
        "Range: bytes=0-99999\r\nRange: bytes=0-99999\r\n", "Range: bytes=4503599626321920-\r\n"}) {
    EXPECT_EQ(wide(lines), "") << lines;
  }
}

TEST(AlignedRange, IsAtMostTwoMiBMoreThanIsAskedFor) {
  for (std::uint64_t first = 0; first < 4'000'000; first += 333'333) {
    for (std::uint64_t size = kWorthABlock; size < 4'000'000; size += 222'222) {
      const auto text = http::range_field({first, first + size - 1});
      const auto asked = http::only_range(wide("Range: " + text + "\r\n")).value();
      EXPECT_LE(asked.first, first);
      EXPECT_GE(*asked.last, first + size - 1);
      EXPECT_LT(*asked.last - asked.first + 1, size + (2 << 20));
    }
  }
}

}  // namespace
}  // namespace proxy::blocks
