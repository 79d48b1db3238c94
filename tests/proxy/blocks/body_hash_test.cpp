#include "proxy/blocks/body_hash.hpp"

#include <gtest/gtest.h>

#include <string>

namespace proxy::blocks {
namespace {

using mirrors::ContentCheck;
using mirrors::ContentName;

const ContentName kAnyName;

// The hash of the text.
Prefix prefix_of(std::string_view text) {
  ContentCheck hash(kAnyName, 0);
  hash.add(text);
  return std::make_shared<const ContentCheck>(std::move(hash));
}

// One block, of which an attempt brings these bytes.
struct Arrival {
  std::uint32_t block = 0;
  std::uint64_t offset = 0;
  std::string bytes = {};
  bool is_whole = true;
};

TEST(RunHash, LinksTheBlocksThatItHasHashedInTheirOrder) {
  const struct {
    const char* claim;
    std::vector<Arrival> arrivals;
    std::string up_to;  // the end of the last block; none: nobody knows
  } rows[] = {
      {"the first one", {{0, 0, "ab"}}, "ab"},
      {"one after the other", {{0, 0, "ab"}, {1, 0, "cd"}, {2, 0, "e"}}, "abcde"},
      {"cut, and continued at the next byte", {{0, 0, "a", false}, {0, 1, "b"}}, "ab"},
      {"cut, and begun again", {{0, 0, "ab"}, {1, 0, "x", false}, {1, 0, "cd"}}, "abcd"},
      {"continued at another byte", {{0, 0, "a", false}, {0, 2, "b"}}, ""},
      {"continued after its end was judged", {{0, 0, "ab"}, {0, 2, ""}}, ""},
      {"not from the first one on", {{1, 0, "cd"}}, ""},
      {"with one left out", {{0, 0, "ab"}, {2, 0, "ef"}}, ""},
      {"from the first one on after all", {{2, 0, "ef"}, {0, 0, "ab"}, {1, 0, "cd"}}, "abcd"},
  };
  for (const auto& row : rows) {
    RunHash hash;
    Prefix end;
    for (const auto& one : row.arrivals) {
      hash.begin(one.block, one.offset, one.block == 0 ? prefix_of("") : nullptr);
      hash.add(one.bytes);
      if (one.is_whole) end = hash.end();
    }
    EXPECT_EQ(end != nullptr, !row.up_to.empty()) << row.claim;
    const bool is_right = !end || is_same(end, prefix_of(row.up_to));
    EXPECT_TRUE(is_right) << row.claim;
    EXPECT_EQ(hash.link_of(row.arrivals.back().block).after, end) << row.claim;
  }
}

TEST(RunHash, BeginsAnywhereIfTheHashBeforeIsKnown) {
  RunHash hash;
  hash.begin(7, 0, prefix_of("ab"));
  hash.add("cd");
  EXPECT_TRUE(is_same(hash.end(), prefix_of("abcd")));
  EXPECT_TRUE(is_same(hash.link_of(7).before, prefix_of("ab")));
  EXPECT_EQ(hash.link_of(6).after, nullptr);
  EXPECT_EQ(hash.all(8), nullptr) << "the blocks before are missing";
}

TEST(RunHash, HasAllHashesOfABodyThatItHasHashedAtOnce) {
  RunHash hash;
  const auto add = [&](std::uint32_t block, std::string_view bytes) {
    hash.begin(block, 0, block == 0 ? prefix_of("") : nullptr);
    hash.add(bytes);
    hash.end();
  };
  for (const std::uint32_t block : {0, 1, 2}) add(block, "ab");
  const auto all = hash.all(3);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 4U);
  EXPECT_TRUE(is_same(all->at(0), prefix_of("")));
  EXPECT_TRUE(is_same(all->at(3), prefix_of("ababab")));
  EXPECT_EQ(hash.all(4), nullptr);
  add(0, "xy");
  EXPECT_EQ(hash.all(3), nullptr) << "the others were hashed after another first one";
  EXPECT_EQ(hash.link_of(0).after, nullptr) << "a reader may have got the other one";
}

Prefixes prefixes(std::size_t count) {
  return std::make_shared<const std::vector<Prefix>>(count, prefix_of(""));
}

TEST(HashesByVersion, AreSharedByAllWhoUseThem) {
  HashesByVersion table;
  auto one = table.of(1);
  EXPECT_EQ(table.of(1), one);
  EXPECT_NE(table.of(2), one);
  EXPECT_EQ(table.find(1), one);
  one.reset();
  EXPECT_EQ(table.find(1), nullptr);
}

TEST(HashesByVersion, KeepThoseOfTheVersionsThatWereVerifiedLast) {
  HashesByVersion table;
  constexpr auto kHalf = HashesByVersion::kMost / 2;
  for (const std::uint64_t version : {1, 2, 3}) {
    const auto hashes = table.of(version);
    EXPECT_EQ(hashes->verified(kAnyName, kHalf - 1), nullptr);
    table.record_verified(hashes, prefixes(kHalf));
    EXPECT_EQ(hashes->verified(kAnyName, kHalf - 1)->size(), kHalf);
  }
  EXPECT_FALSE(table.find(1));
  EXPECT_TRUE(table.find(2));
  EXPECT_TRUE(table.find(3));
  table.record_verified(table.of(4), prefixes(HashesByVersion::kMost + 1));
  EXPECT_FALSE(table.find(4)) << "too many";
  table.record_verified(table.of(5), nullptr);
  EXPECT_FALSE(table.find(5)) << "none";
  EXPECT_TRUE(table.find(2));
}

TEST(HashesByVersion, AreOfOneName) {
  HashesByVersion table;
  const auto hashes = table.of(1);
  table.record_verified(hashes, prefixes(2));
  ContentName other;
  other.bytes[0] = 1;
  EXPECT_EQ(hashes->verified(other, 1), nullptr);
}

TEST(VersionHashes, TellWhetherABlockIsStillTheOneThatWasStored) {
  HashesByVersion table;
  const auto hashes = table.of(1);
  EXPECT_EQ(hashes->stored(0).link.after, nullptr);
  hashes->record_storing(0, {prefix_of(""), prefix_of("ab")});
  const auto first = hashes->stored(0);
  EXPECT_TRUE(is_same(first.link.after, prefix_of("ab")));
  hashes->record_storing(1, {});
  EXPECT_EQ(hashes->stored(0).number, first.number);
  EXPECT_EQ(hashes->times_stored(), 2U);
  hashes->record_storing(0, {});
  EXPECT_NE(hashes->stored(0).number, first.number);
  EXPECT_EQ(hashes->stored(0).link.after, nullptr);
  table.record_verified(hashes, prefixes(3));
  const auto verified = hashes->stored(0).number;
  hashes->record_storing(0, {});
  EXPECT_EQ(hashes->stored(0).number, verified) << "every block is the verified one";
  EXPECT_TRUE(is_same(hashes->stored(1).link.after, prefix_of("")));
}

}  // namespace
}  // namespace proxy::blocks
