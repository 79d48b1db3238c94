#include "proxy/cache/disk/index_shard.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "tests/digest/keys.hpp"

namespace proxy::cache::disk {
namespace {

using digest::quick_key;

constexpr std::uint32_t kNow = 1'800'000'000;

Location place_at(std::uint32_t segment, std::uint32_t offset) {
  return {.at = {segment, offset}, .bytes = 160, .claimable_until = kNow + 60};
}

TEST(DiskIndex, FindsWhatWasPutLast) {
  Index index(kNow);
  index.put(quick_key(1), place_at(1, 32));
  index.put(quick_key(1), place_at(1, 64));
  index.put(quick_key(2), place_at(2, 96));
  EXPECT_EQ(index.find(quick_key(1)), place_at(1, 64));
  EXPECT_EQ(index.find(quick_key(2)), place_at(2, 96));
  EXPECT_FALSE(index.find(quick_key(3)));
  EXPECT_EQ(index.entries(), 2U);
}

TEST(DiskIndex, MarksAUseUntilTheNextPut) {
  Index index(kNow);
  index.put(quick_key(1), place_at(1, 32));
  EXPECT_FALSE(index.find(quick_key(1))->used);
  EXPECT_TRUE(index.use(quick_key(1))->used);
  EXPECT_TRUE(index.find(quick_key(1))->used);
  EXPECT_TRUE(index.replace_at(quick_key(1), {1, 32}, place_at(2, 32)));
  EXPECT_FALSE(index.find(quick_key(1))->used);
}

TEST(DiskIndex, ChangesOnlyEntriesAtTheGivenPosition) {
  Index index(kNow);
  index.put(quick_key(1), place_at(1, 32));
  EXPECT_FALSE(index.erase_at(quick_key(1), {1, 48}));
  EXPECT_FALSE(index.replace_at(quick_key(1), {2, 32}, place_at(3, 32)));
  EXPECT_FALSE(index.replace_at(quick_key(2), {1, 32}, place_at(3, 32)));
  EXPECT_EQ(index.find(quick_key(1)), place_at(1, 32));
  EXPECT_TRUE(index.erase_at(quick_key(1), {1, 32}));
  EXPECT_FALSE(index.erase(quick_key(1)));
  EXPECT_EQ(index.entries(), 0U);
}

// Records of one segment, enough to be sorted by shard: puts, newer heads and purges of few keys.
std::vector<Listed> records_of_few_keys() {
  constexpr std::array kKinds{RecordKind::whole, RecordKind::head, RecordKind::purge,
                              RecordKind::object, RecordKind::lost};
  std::mt19937_64 random(1);
  std::vector<Listed> records;
  for (std::uint32_t i = 0; i < 8 * Index::kShards; ++i) {
    records.push_back({.key = quick_key(random() % Index::kShards),
                       .offset = 32 + 160 * i,
                       .bytes = 160,
                       .claimable_until = kNow + 60,
                       .kind = kKinds[random() % kKinds.size()]});
  }
  return records;
}

TEST(DiskIndex, AppliesRecordsAsOneAfterTheOtherWould) {
  const auto records = records_of_few_keys();
  Index at_once(kNow);
  Index singly(kNow);
  Index expected(kNow);
  at_once.apply(records, 7);
  for (const Listed& listed : records) {
    singly.apply({&listed, 1}, 7);
    if (is_purge(listed.kind)) {
      expected.erase(listed.key);
    } else if (listed.kind != RecordKind::head || expected.find(listed.key)) {
      expected.put(listed.key, location_of(listed, 7));
    }
  }
  EXPECT_GT(expected.entries(), 0U);
  EXPECT_EQ(at_once.entries(), expected.entries());
  EXPECT_EQ(singly.entries(), expected.entries());
  for (std::uint64_t i = 0; i < Index::kShards; ++i) {
    EXPECT_EQ(at_once.find(quick_key(i)), expected.find(quick_key(i))) << i;
    EXPECT_EQ(singly.find(quick_key(i)), expected.find(quick_key(i))) << i;
  }
  for (const auto kind : {RecordKind::whole, RecordKind::head, RecordKind::object}) {
    EXPECT_EQ(at_once.count(kind), expected.count(kind));
  }
}

// One shard that grows stops everybody whose entry is in it.
TEST(DiskIndex, SpreadsKeysThatAStrangerHasChosenOverItsShards) {
  constexpr std::uint64_t kKeys = 6400;
  Index index(kNow);
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    Key key = quick_key(i);
    key.bytes[14] = key.bytes[15] = 0;
    index.put(key, place_at(1, 32));
  }
  for (std::size_t shard = 0; shard < Index::kShards; ++shard) {
    std::uint64_t held = 0;
    index.each_in(shard, [&](const Key&, const Location&) { ++held; });
    EXPECT_LT(held, 4 * kKeys / Index::kShards);
  }
}

TEST(DiskIndex, DropsASegmentOrAll) {
  Index index(kNow);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    index.put(quick_key(i), place_at(1 + static_cast<std::uint32_t>(i % 2), 32));
  }
  EXPECT_EQ(index.erase_segment(1), 500U);
  EXPECT_FALSE(index.find(quick_key(0)));
  EXPECT_TRUE(index.find(quick_key(1)));
  std::size_t seen = 0;
  index.each([&](const Key&, const Location& place) { seen += place.at.segment; });
  EXPECT_EQ(seen, 1000U);
  index.clear();
  EXPECT_EQ(index.entries(), 0U);
  EXPECT_FALSE(index.find(quick_key(1)));
}

TEST(DiskIndex, CountsEntriesByKind) {
  Index index(kNow);
  const auto put = [&](std::uint64_t key, std::uint32_t segment, RecordKind kind) {
    Location place = place_at(segment, static_cast<std::uint32_t>(32 + 32 * key));
    place.kind = kind;
    index.put(quick_key(key), place);
  };
  const auto counted = [&] {
    return std::pair(index.count(RecordKind::object), index.count(RecordKind::block));
  };
  put(1, 1, RecordKind::object);
  put(2, 1, RecordKind::block);
  put(3, 2, RecordKind::block);
  put(4, 2, RecordKind::block);
  EXPECT_EQ(counted(), std::pair(1UL, 3UL));
  put(3, 3, RecordKind::block);
  put(4, 2, RecordKind::whole);
  EXPECT_EQ(counted(), std::pair(1UL, 2UL));
  index.erase(quick_key(1));
  index.erase_segment(1);
  EXPECT_EQ(counted(), std::pair(0UL, 1UL));
  index.clear();
  EXPECT_EQ(counted(), std::pair(0UL, 0UL));
}

TEST(DiskIndex, CountsHits) {
  Index index;
  const Key key = quick_key(1);
  const auto hits = [&] { return index.find(key)->hits; };
  index.add_hits(key, 7);  // of a missing entry
  index.put(key, {.at = {1, 32}});
  EXPECT_EQ(hits(), 0);
  index.use(key);
  index.add_hits(key, 2);
  EXPECT_EQ(hits(), 3);
  EXPECT_TRUE(index.replace_at(key, {1, 32}, {.at = {2, 32}}));
  index.set_claim(key, {2, 32}, 7);
  EXPECT_EQ(hits(), 3) << "written again";
  index.add_hits(key, UINT32_MAX);
  index.use(key);
  EXPECT_EQ(hits(), kMostHits);
  index.put(key, {.at = {3, 32}});
  EXPECT_EQ(hits(), 0) << "another response";
}

TEST(DiskPlace, KeepsEveryKindAndTheLargestNumbers) {
  for (auto kind = RecordKind::whole; kind <= RecordKind::selector;
       kind = RecordKind(std::uint8_t(kind) + 1)) {
    const Location place{.at = {kLastSegment, kMaxSegmentBytes - kAlignment},
                         .bytes = kMaxSegmentBytes,
                         .claimable_until = kNow + 1,
                         .kind = kind,
                         .used = true,
                         .hits = kMostHits,
                         .rule = digest::kMostMarks - 1};
    EXPECT_EQ(PackedLocation(place, kNow).unpack(kNow), place);
  }
}

TEST(DiskPlace, RoundsLengthsUpByOnePartIn32AtMost) {
  for (std::uint64_t bytes = 80; bytes <= kMaxSegmentBytes; bytes += 1 + bytes / 97) {
    const Location place{.bytes = static_cast<std::uint32_t>(bytes)};
    const std::uint64_t found = PackedLocation(place, kNow).unpack(kNow).bytes;
    ASSERT_GE(found, bytes);
    ASSERT_LE(found, aligned(bytes) + bytes / 32) << bytes;
  }
}

TEST(DiskPlace, ForgetsClaimsThatEndedAndBoundsThoseFarAhead) {
  const auto until = [](std::uint32_t time) {
    return PackedLocation({.claimable_until = time}, kNow).unpack(kNow).claimable_until;
  };
  EXPECT_EQ(until(0), 0U);
  EXPECT_EQ(until(kNow - 1), 0U);
  EXPECT_EQ(until(kNow), 0U);
  EXPECT_EQ(until(kNow + 1), kNow + 1);
  EXPECT_EQ(until(UINT32_MAX), kNow + (1U << 29) - 1);
}

}  // namespace
}  // namespace proxy::cache::disk
