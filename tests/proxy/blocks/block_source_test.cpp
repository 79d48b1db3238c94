#include "proxy/blocks/block_source.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/blocks/block_scene.hpp"

namespace proxy::blocks {
namespace {

// What a client gets of the blocks of its object, one after the other.
struct Given {
  std::string bytes;
  std::optional<upstream::Failure::What> failure;
};

net::Task<Given> read_all(BlockSource& source, std::uint32_t first, std::uint32_t last) {
  Given given;
  for (auto block = first; block <= last; ++block) {
    source.go_to(block, last);
    for (;;) {
      const auto pieces = co_await source.next();
      if (!pieces) {
        given.failure = pieces.error().what;
        co_return given;
      }
      if (pieces->empty()) break;
      for (const auto& piece : *pieces)
        given.bytes.append(piece.block->data() + piece.offset, piece.size);
    }
  }
  co_return given;
}

struct SourceCase {
  const char* claim;
  std::vector<std::uint32_t> stored;
  Answers answers;
  std::string questions;
  std::optional<upstream::Failure::What> failure = {};
  bool may_fetch = true;
  std::string_view fields = kObjectFields;
  bool refused = false;
};

// A client reads all four blocks.
void expect_blocks(const std::vector<SourceCase>& rows) {
  for (const auto& row : rows) {
    SCOPED_TRACE(row.claim);
    BlockScene scene(row.answers, row.fields);
    for (const auto block : row.stored) scene.store(block);
    const auto client = scene.asks();
    BlockSource source(scene.fetching, {**client, scene.url_key, scene.object, row.may_fetch});
    const auto given = support::run(scene.io, read_all(source, 0, 3));
    EXPECT_EQ(given.failure, row.failure);
    const auto begun = object_bytes().substr(0, given.bytes.size());
    EXPECT_TRUE(given.bytes == (row.failure ? begun : object_bytes()));
    EXPECT_EQ(scene.questions(), row.questions);
    EXPECT_EQ(source.refused(), row.refused);
    EXPECT_FALSE(source.from_disk());
    EXPECT_TRUE(source.peer() == nullptr);
  }
}

TEST(BlockSource, GivesStoredBlocksAndFetchesTheOthers) {
  const auto part = answers::part();
  expect_blocks({
      {"all are stored", {0, 1, 2, 3}, {}, ""},
      {"none is: one question for all", {}, {part}, "0-3146727"},
      {"the last ones are missing", {0, 1}, {part}, "2097152-3146727"},
      {"the first one is", {1, 2, 3}, {part}, "0-1048575"},
      {"two holes: two questions", {0, 2}, {part, part}, "1048576-2097151; 3145728-3146727"},
      {"the origin sends the whole",
       {0},
       {answers::whole(), answers::whole()},
       "1048576-3146727; 1048576-3146727"},
  });
}

TEST(BlockSource, FetchesNothingThatItMayNotOrCannot) {
  constexpr auto kNone = upstream::Failure::What::abandoned;
  expect_blocks({
      {.claim = "the request may not fetch",
       .stored = {0},
       .answers = {},
       .questions = "",
       .failure = kNone,
       .may_fetch = false},
      {.claim = "no validator: blocks of two responses may differ",
       .stored = {0},
       .answers = {},
       .questions = "",
       .failure = kNone,
       .fields = "Cache-Control: max-age=60\r\n"},
      {.claim = "a weak one says little of bytes",
       .stored = {0},
       .answers = {},
       .questions = "",
       .failure = kNone,
       .fields = "ETag: W/\"v1\"\r\nCache-Control: max-age=60\r\n"},
      {.claim = "all is stored, so neither matters",
       .stored = {0, 1, 2, 3},
       .answers = {},
       .questions = "",
       .may_fetch = false,
       .fields = "Cache-Control: max-age=60\r\n"},
  });
}

TEST(BlockSource, AsksOnceMoreForABlockThatWasCut) {
  const auto few = answers::cut_after(1'000);
  const auto other = [](const support::Request& asked) {
    std::string bytes(bytes_in(range_in(asked)));
    bytes[0] = bytes[0] == 'x' ? 'y' : 'x';
    return part_head(asked, answers::fields()).send(std::move(bytes));
  };
  expect_blocks({
      {"within its first block", {}, {few, answers::part()}, "0-3146727; 0-3146727"},
      {.claim = "twice",
       .stored = {},
       .answers = {few, few},
       .questions = "0-3146727; 0-3146727",
       .failure = upstream::Failure::What::cut},
      {.claim = "the next answer has other bytes than the client",
       .stored = {},
       .answers = {few, other},
       .questions = "0-3146727; 0-3146727",
       .failure = upstream::Failure::What::malformed},
      {.claim = "the object has changed meanwhile",
       .stored = {},
       .answers = {few, answers::part(answers::fields("\"v2\""))},
       .questions = "0-3146727; 0-3146727",
       .failure = upstream::Failure::What::malformed,
       .refused = true},
      {.claim = "the origin has never sent a byte",
       .stored = {},
       .answers = {answers::status(503)},
       .questions = "0-3146727",
       .failure = upstream::Failure::What::malformed,
       .refused = true},
  });
}

TEST(BlockSource, HasASlotForTheBlockInHandAlone) {
  BlockScene scene;
  for (const auto block : {0, 1, 2, 3}) scene.store(static_cast<std::uint32_t>(block));
  const auto client = scene.asks();
  BlockSource source(scene.fetching, {**client, scene.url_key, scene.object});
  source.go_to(0, 3);
  EXPECT_FALSE(source.slot());
  EXPECT_FALSE(source.has_source());
  ASSERT_TRUE(support::run(scene.io, source.next()));
  EXPECT_TRUE(source.slot());
  EXPECT_TRUE(source.from_stored());
  source.go_to(1, 3);
  EXPECT_FALSE(source.slot());
}

TEST(BlockSource, SharesARunWithAnotherReader) {
  BlockScene scene({answers::part()});
  const auto client = scene.asks();
  BlockSource one(scene.fetching, {**client, scene.url_key, scene.object});
  BlockSource other(scene.fetching, {**client, scene.url_key, scene.object});
  one.go_to(0, 3);
  other.go_to(0, 3);
  ASSERT_TRUE(support::run(scene.io, one.next()));
  ASSERT_TRUE(support::run(scene.io, other.next()));
  EXPECT_TRUE(support::run(scene.io, read_all(other, 0, 3)).bytes == object_bytes());
  EXPECT_TRUE(support::run(scene.io, read_all(one, 0, 3)).bytes == object_bytes());
  EXPECT_EQ(scene.questions(), "0-3146727");
}

}  // namespace
}  // namespace proxy::blocks
