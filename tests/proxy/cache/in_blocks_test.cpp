// Large objects and their blocks: their entries, in memory and on disk.

#include <gtest/gtest.h>

#include "proxy/cache/combine.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/cache/revalidation.hpp"
#include "proxy/cache/store.hpp"
#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

constexpr std::uint64_t kMiB = kBlockBytes;

TEST(BlocksOfAnObject, AreThoseThatHoldTheBytes) {
  EXPECT_EQ(blocks_of({0, 0}), (BlockRange{0, 0}));
  EXPECT_EQ(blocks_of({0, kMiB - 1}), (BlockRange{0, 0}));
  EXPECT_EQ(blocks_of({kMiB - 1, kMiB}), (BlockRange{0, 1}));
  EXPECT_EQ(blocks_of({5 * kMiB, 7 * kMiB}), (BlockRange{5, 7}));
  EXPECT_EQ(blocks_of({kLargestObject - 1, kLargestObject - 1}),
            (BlockRange{UINT32_MAX - 1, UINT32_MAX - 1}));
}

TEST(BlocksOfAnObject, AreAllOfTheSameSizeButTheLast) {
  EXPECT_EQ(bytes_of_block(0, 5 * kMiB + 1), (http::ByteRange{0, kMiB - 1}));
  EXPECT_EQ(bytes_of_block(5, 5 * kMiB + 1), (http::ByteRange{5 * kMiB, 5 * kMiB}));
  EXPECT_EQ(bytes_of_block(4, 5 * kMiB), (http::ByteRange{4 * kMiB, 5 * kMiB - 1}));
  EXPECT_EQ(bytes_of_block(0, 1), (http::ByteRange{0, 0}));
  EXPECT_EQ(blocks_in(1), 1U);
  EXPECT_EQ(blocks_in(5 * kMiB), 5U);
  EXPECT_EQ(blocks_in(5 * kMiB + 1), 6U);
  EXPECT_EQ(blocks_in(kLargestObject), UINT32_MAX);
}

TEST(BlocksOfAPart, AreThoseThatItHasWhole) {
  struct Case {
    http::ContentRange part;
    std::optional<BlockRange> blocks;
    std::uint64_t before;
  };
  const Case cases[] = {
      {{{0, 0}, 1}, BlockRange{0, 0}, 0},
      {{{0, 5 * kMiB}, 5 * kMiB + 1}, BlockRange{0, 5}, 0},
      {{{0, 5 * kMiB}, 6 * kMiB}, BlockRange{0, 4}, 0},
      {{{1, 2 * kMiB - 1}, 6 * kMiB}, BlockRange{1, 1}, kMiB - 1},
      {{{1, 2 * kMiB - 2}, 6 * kMiB}, std::nullopt, kMiB - 1},
      {{{kMiB - 1, 6 * kMiB - 1}, 6 * kMiB}, BlockRange{1, 5}, 1},
      {{{5 * kMiB + 1, 6 * kMiB - 1}, 6 * kMiB}, std::nullopt, kMiB - 1},
      {{{0, 5 * kMiB - 1}, std::nullopt}, std::nullopt, 0},
      {{{0, kLargestObject - 1}, kLargestObject}, BlockRange{0, UINT32_MAX - 1}, 0},
      {{{0, kLargestObject}, kLargestObject + 1}, std::nullopt, 0},
      {{{UINT64_MAX - 2, UINT64_MAX - 1}, UINT64_MAX}, std::nullopt, 3},
  };
  for (const Case& tested : cases) {
    SCOPED_TRACE(http::content_range(tested.part));
    EXPECT_EQ(whole_blocks(tested.part), tested.blocks);
    EXPECT_EQ(bytes_before_block(tested.part.range.first), tested.before);
  }
}

class AnObject : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kLength = 10 * kMiB + 5;

  Ref<Entry> object(const std::string& lines, unsigned status = 200) {
    const Request request;
    const Response response(lines, status);
    return object_entry(budget_, {"http://a/", request.head.fields, response.head, kAtOnce, "us"},
                        Object{7}, kLength);
  }

  Budget budget_{64 << 20};
};

TEST_F(AnObject, HasItsLengthAndNoBytes) {
  const auto entry = object("Cache-Control: max-age=100\r\nETag: \"e\"\r\n");
  EXPECT_EQ(entry->object(), Object{7});
  EXPECT_EQ(entry->body.size, kLength);
  EXPECT_TRUE(entry->body.slices.empty());
  EXPECT_LT(entry->footprint(), 2000U);
  EXPECT_FALSE(entry->range());
}

TEST_F(AnObject, OfAPartHasTheHeadOfTheWhole) {
  const auto entry = object(
      "Cache-Control: max-age=100\r\nETag: \"e\"\r\nContent-Range: bytes 0-9/10485765\r\n"
      "Content-Digest: sha-256=:x:\r\nRepr-Digest: sha-256=:y:\r\nContent-Type: a/b\r\n",
      206);
  EXPECT_EQ(entry->status, 200U);
  EXPECT_FALSE(entry->range());
  EXPECT_EQ(entry->head().substr(0, 17), "HTTP/1.1 200 OK\r\n");
  EXPECT_EQ(entry->head().find("Content-Range"), std::string::npos);
  EXPECT_EQ(entry->head().find("Content-Digest"), std::string::npos);
  EXPECT_NE(entry->head().find("Repr-Digest"), std::string::npos);
  EXPECT_EQ(entry->quotes().etag, "\"e\"");
  EXPECT_EQ(entry->body.size, kLength);
}

TEST_F(AnObject, OfALengthNotKnownYetIsAPartThatNobodyIsToldOf) {
  const Request request;
  const Response response(
      "Cache-Control: max-age=100\r\nETag: \"e\"\r\nContent-Digest: sha-256=:x:\r\n");
  const Received received{"http://a/", request.head.fields, response.head, kAtOnce, "us"};
  const auto begun = begun_entry(budget_, received, Object{7}, 4 * kMiB);
  EXPECT_EQ(begun->status, 206U);
  EXPECT_EQ(begun->range(), (http::ContentRange{{0, 4 * kMiB - 1}, std::nullopt}));
  EXPECT_EQ(begun->object(), Object{7});
  EXPECT_EQ(begun->body.size, 4 * kMiB);
  EXPECT_EQ(begun->head().find("Content-Range"), std::string::npos) << "the sender writes it";
  EXPECT_EQ(begun->head().find("Content-Digest"), std::string::npos);
  EXPECT_EQ(begun->claimable_until(), Time::min());
  EXPECT_EQ(complete_length(*begun), std::nullopt);
  EXPECT_EQ(rest_wanted(request.facts, *begun), (MissingRange{0, 4 * kMiB, {}}));
}

TEST_F(AnObject, StaysTheSameOneOnceFreshened) {
  const auto entry = object("Cache-Control: max-age=1\r\nETag: \"e\"\r\n");
  const Request request;
  const Response response("Cache-Control: max-age=900\r\nETag: \"e\"\r\n", 304);
  const auto fresh = freshen(budget_, *entry, request.facts,
                             {"http://a/", request.head.fields, response.head, kAtOnce, "us"});
  EXPECT_EQ(fresh.entry->object(), entry->object());
  EXPECT_EQ(fresh.entry->body.size, kLength);
  EXPECT_EQ(fresh.entry->freshness().lifetime, 900s);
}

TEST_F(AnObject, IsNotJoinedToAPartOfTheSame) {
  const auto held = object("Cache-Control: max-age=1\r\nETag: \"e\"\r\n");
  const Request request;
  for (const auto* tag : {"\"e\"", "\"f\""}) {
    const Response response("Cache-Control: max-age=900\r\nETag: " + std::string(tag) +
                                "\r\nContent-Range: bytes 0-9/10485765\r\n",
                            206);
    const Received received{"http://a/", request.head.fields, response.head, kAtOnce, "us"};
    const auto newer = Entry::make(budget_, received);
    newer->body = {{{Block::make(budget_, 10), 10}}, 10};
    const auto kept = combine(held.get(), newer, request.facts, received, 1 << 20);
    EXPECT_EQ(kept, tag == std::string("\"e\"") ? nullptr : newer) << tag;
  }
}

TEST_F(AnObject, IsHeldInMemoryHoweverLongItIsAndClaimsNothingThere) {
  Store store(budget_, {.max_object = kMiB});
  const auto entry = object("Cache-Control: max-age=100\r\n");
  EXPECT_GT(entry->claimable_until(), kStart);
  const auto key = key_of("http://a/");
  ASSERT_EQ(store.put(key, {entry}, kStart), Stored::yes);
  EXPECT_EQ(store.find(key, "http://a/", {}).entry, entry);
  std::vector<digest::Claim> claimed;
  store.list_claimed(kStart, claimed);
  EXPECT_TRUE(claimed.empty());
}

TEST_F(AnObject, HasBlocksThatAreEntriesOfTheirOwn) {
  Store store(budget_);
  const auto entry = object("Cache-Control: max-age=100\r\n");
  const Body bytes{{{Block::make(budget_, 1000), 1000}}, 1000};
  const auto block = block_entry(budget_, *entry, bytes);
  EXPECT_EQ(block->url(), "http://a/");
  EXPECT_EQ(block->claimable_until(), Time::min());
  const auto key = disk::block_key(key_of("http://a/"), 7, 3);
  EXPECT_FALSE(store.holds(key));
  ASSERT_EQ(store.put(key, {block}, kStart), Stored::yes);
  EXPECT_TRUE(store.holds(key));
  EXPECT_FALSE(store.was_used(key)) << "a question is no use";
  EXPECT_EQ(store.find(key, "http://a/", {}).entry, block);
  store.put(key_of("http://a/"), {entry}, kStart);
  EXPECT_EQ(store.entries(), 2U);
  EXPECT_EQ(store.responses(), 1U) << "a block is no response";
  const auto all = [](const Entry&) { return true; };
  EXPECT_EQ(store.remove_if(all), 1U) << "one response, however many blocks";
  EXPECT_EQ(store.entries(), 0U);
  EXPECT_EQ(store.responses(), 0U);
}

}  // namespace
}  // namespace proxy::cache
