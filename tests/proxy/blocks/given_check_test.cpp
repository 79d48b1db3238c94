// What a reader of a whole object gets if sources lie about its bytes.
#include "proxy/blocks/given_check.hpp"

#include <gtest/gtest.h>

#include "digest/base64.hpp"
#include "proxy/blocks/block_source.hpp"
#include "tests/proxy/blocks/block_scene.hpp"

namespace proxy::blocks {
namespace {

const mirrors::ContentName& name_of_object() {
  static const auto name = [] {
    mirrors::ContentCheck hash({}, kObjectBytes);
    hash.add(object_bytes());
    return hash.so_far();
  }();
  return name;
}

std::string fields_with_digest() {
  const auto& bytes = name_of_object().bytes;
  const std::vector<std::uint8_t> digest(bytes.begin(), bytes.begin() + 32);
  return std::string(kObjectFields) + "Repr-Digest: sha-256=:" + digest::to_base64(digest) +
         ":\r\n";
}

// The range that is asked for, in which the first byte of each of these blocks is wrong.
support::ScriptedOrigin::Answer lie(std::vector<std::uint32_t> blocks, std::uint64_t cut = 0) {
  return [blocks = std::move(blocks), cut](const support::Request& asked) {
    const auto range = range_in(asked);
    std::string bytes(bytes_in(range));
    for (const auto block : blocks) {
      const auto at = block * std::uint64_t{cache::kBlockBytes};
      if (range.first <= at && at <= range.last) bytes[at - range.first] = '~';
    }
    auto reply = part_head(asked, answers::fields());
    return cut > 0 ? reply.send(bytes.substr(0, cut)).cut() : reply.send(std::move(bytes));
  };
}

struct NamedScene : BlockScene {
  explicit NamedScene(Answers answers, std::string fields = fields_with_digest())
      : BlockScene(std::move(answers), fields) {}
  void evict(std::uint32_t block) const {
    tiers.store.remove(cache::disk::block_key(url_key, object->object()->version, block));
  }
  ObjectRequest all_for(const policy::TextRequest& client) const {
    return {.request = *client, .key = url_key, .object = object, .name = name_of_object()};
  }
};

// Reads the blocks, and adds their bytes. Returns whether all of them came.
net::Task<bool> give(BlockSource& source, cache::BlockRange blocks, std::string& given) {
  for (auto block = blocks.first; block <= blocks.last; ++block) {
    source.go_to(block, 3);
    for (;;) {
      const auto pieces = co_await source.next();
      if (!pieces) co_return false;
      if (pieces->empty()) break;
      for (const auto& piece : *pieces)
        given.append(piece.block->data() + piece.offset, piece.size);
    }
  }
  co_return true;
}

// Reads all blocks. While the client is at a block, the numbered ones are evicted.
struct GivenCase {
  const char* claim;
  std::vector<std::uint32_t> stored;
  Answers answers;
  bool is_whole = false;
  std::uint32_t at = 0;  // before this block is read
  std::vector<std::uint32_t> evicted = {};
};

void expect_given(const std::vector<GivenCase>& rows) {
  for (const auto& row : rows) {
    SCOPED_TRACE(row.claim);
    NamedScene scene(row.answers);
    for (const auto block : row.stored) scene.store(block);
    const auto client = scene.asks();
    BlockSource source(scene.fetching, scene.all_for(*client));
    std::string given;
    bool goes_on = true;
    if (row.at > 0) goes_on = support::run(scene.io, give(source, {0, row.at - 1}, given));
    for (const auto block : row.evicted) scene.evict(block);
    if (goes_on) goes_on = support::run(scene.io, give(source, {row.at, 3}, given));
    EXPECT_EQ(goes_on, row.is_whole);
    EXPECT_EQ(given == object_bytes(), row.is_whole);
    EXPECT_TRUE(row.is_whole || given.size() < kObjectBytes);
    EXPECT_EQ(scene.entry() != nullptr, row.is_whole) << "a wrong version is dropped";
  }
}

TEST(GivenCheck, GivesWhatHasTheDigest) {
  const auto part = answers::part();
  expect_given({
      {"fetched", {}, {part}, true},
      {"all stored", {0, 1, 2, 3}, {}, true},
      {"in part", {1, 2}, {part, part}, true},
      {"cut, and continued by another answer",
       {},
       {answers::cut_after(cache::kBlockBytes + 70'000), part},
       true},
      {"of which the first block was evicted meanwhile", {}, {part}, true, 3, {0}},
      {"of which the next blocks were evicted meanwhile", {0, 1, 2, 3}, {part}, true, 2, {2, 3}},
  });
}

TEST(GivenCheck, NeverGivesTheLastBytesOfAWholeThatHasAnotherOne) {
  constexpr std::uint64_t kBlock = cache::kBlockBytes;
  expect_given({
      {"one answer", {}, {lie({1})}},
      {"two answers, of which the first is wrong", {}, {lie({0}, kBlock), answers::part()}},
      {"within a block", {}, {lie({0}, 700'000), answers::part()}},
      {"two runs around what is right", {1, 2}, {lie({0}), answers::part()}},
      {"what was stored before", {0, 1, 2, 3}, {lie({2})}, false, 2, {2, 3}},
  });
}

// The first block is not there any more when the last ones are judged.
TEST(GivenCheck, ChecksWhatIsGoneFromTheStore) {
  NamedScene* there = nullptr;
  const support::ScriptedOrigin::Answer rest = [&there](const support::Request& asked) {
    there->evict(0);
    return answers::part()(asked);
  };
  for (const bool right : {true, false}) {
    // Of the blocks 0 and 1 there is one run, and the others are stored.
    NamedScene scene(
        {right ? answers::cut_after(cache::kBlockBytes) : lie({0}, cache::kBlockBytes), rest});
    there = &scene;
    scene.store(2);
    scene.store(3);
    const auto client = scene.asks();
    BlockSource source(scene.fetching, scene.all_for(*client));
    std::string given;
    EXPECT_EQ(support::run(scene.io, give(source, {0, 3}, given)), right);
    EXPECT_EQ(given == object_bytes(), right);
    EXPECT_EQ(scene.questions(), "0-2097151; 1048576-2097151");
    EXPECT_EQ(scene.entry() != nullptr, right) << "the wrong version is dropped";
    EXPECT_EQ(scene.fills.recently_invalidated(scene.url_key, scene.url, scene.now()), !right);
  }
}

// A purge must not cut those who read meanwhile, if what they get is right.
TEST(GivenCheck, ChecksAnObjectThatIsDroppedMeanwhile) {
  for (const bool right : {true, false}) {
    NamedScene* there = nullptr;
    const support::ScriptedOrigin::Answer rest = [&there](const support::Request& asked) {
      there->cache.drop(there->url_key, there->url);
      return answers::part()(asked);
    };
    NamedScene scene({right ? answers::part() : lie({0}), rest});
    there = &scene;
    for (const std::uint32_t block : {1, 3}) scene.store(block);
    const auto client = scene.asks();
    BlockSource source(scene.fetching, scene.all_for(*client));
    std::string given;
    EXPECT_EQ(support::run(scene.io, give(source, {0, 3}, given)), right);
    EXPECT_EQ(given == object_bytes(), right);
  }
}

// All was stored and verified before this process began, so nothing is known but that.
TEST(GivenCheck, TrustsStoredBlocksButThoseThatWereStoredAnew) {
  const struct {
    const char* claim;
    bool is_right;        // the block that is stored anew
    bool is_first_there;  // the block that tells what all before was
    bool is_whole;
  } rows[] = {
      {"what was stored anew is right", true, true, true},
      {"it is wrong", false, true, false},
      {"nobody can tell, so the origin's word counts", true, false, true},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.claim);
    NamedScene scene({row.is_right ? answers::part() : lie({2}), answers::part()});
    for (const std::uint32_t block : {0, 1, 2, 3}) scene.store(block);
    const auto client = scene.asks();
    BlockSource source(scene.fetching, scene.all_for(*client));
    std::string given;
    EXPECT_TRUE(support::run(scene.io, give(source, {0, 0}, given)));
    for (const std::uint32_t block : {2, 3}) scene.evict(block);
    BlockSource other(scene.fetching,
                      {.request = **client, .key = scene.url_key, .object = scene.object});
    std::string of_other;
    EXPECT_TRUE(support::run(scene.io, give(other, {2, 2}, of_other)));
    EXPECT_EQ(scene.stored(), "012");
    if (!row.is_first_there) scene.evict(0);
    source.go_to(1, 3);
    EXPECT_TRUE(source.trusts_stored());
    EXPECT_EQ(support::run(scene.io, give(source, {1, 3}, given)), row.is_whole);
    EXPECT_EQ(given == object_bytes(), row.is_whole);
  }
}

// Of two sources either may be wrong. Of one alone it is clear.
TEST(BlockWriter, LeavesNeighboursAsideAfterWrongBlocksOfSeveralSources) {
  for (const bool several : {true, false}) {
    NamedScene scene(several ? Answers{lie({0}, cache::kBlockBytes), answers::part()}
                             : Answers{lie({0})});
    const auto client = scene.asks();
    BlockSource source(scene.fetching, scene.all_for(*client));
    std::string given;
    EXPECT_FALSE(support::run(scene.io, give(source, {0, 3}, given)));
    EXPECT_EQ(scene.fills.recently_invalidated(scene.url_key, scene.url, scene.now()), several);
  }
}

TEST(BlockWriter, DropsOnlyItsOwnVersionAfterAWrongBody) {
  NamedScene* there = nullptr;
  const support::ScriptedOrigin::Answer wrong = [&there](const support::Request& asked) {
    const cache::Request request;
    const cache::Response response{fields_with_digest()};
    const cache::Received received{there->url, request.head.fields, response.head, there->times(),
                                   "us"};
    const auto newer = cache::object_entry(there->budget, received, {.version = 2}, kObjectBytes);
    EXPECT_TRUE(there->cache.store(there->url_key, newer, there->now()));
    return lie({0})(asked);
  };
  NamedScene scene({wrong});
  there = &scene;
  const auto client = scene.asks();
  BlockSource source(scene.fetching, scene.all_for(*client));
  std::string given;
  EXPECT_FALSE(support::run(scene.io, give(source, {0, 3}, given)));
  ASSERT_TRUE(scene.entry() != nullptr);
  EXPECT_EQ(scene.entry()->object()->version, 2U);
}

// Whoever wants one block alone waits for no other one.
TEST(WholeCheck, VerifiesABlockOfAVerifiedObjectAlone) {
  NamedScene scene({answers::part(), lie({1}), answers::part()});
  const auto client = scene.asks();
  {
    BlockSource first(scene.fetching, scene.all_for(*client));
    std::string given;
    EXPECT_TRUE(support::run(scene.io, give(first, {0, 3}, given)));
  }
  scene.evict(1);
  scene.evict(3);
  const auto block = [&] {
    BlockSource source(scene.fetching,
                       {.request = **client, .key = scene.url_key, .object = scene.object});
    source.go_to(1, 1);
    std::string given;
    const auto read = [&]() -> net::Task<bool> {
      for (;;) {
        const auto pieces = co_await source.next();
        if (!pieces) co_return false;
        if (pieces->empty()) co_return true;
        for (const auto& piece : *pieces)
          given.append(piece.block->data() + piece.offset, piece.size);
      }
    };
    const bool is_whole = support::run(scene.io, read());
    EXPECT_EQ(given.size() == cache::kBlockBytes, is_whole);
    return is_whole;
  };
  EXPECT_FALSE(block());
  EXPECT_EQ(scene.stored(), "02") << "the others are right";
  EXPECT_TRUE(scene.entry() != nullptr);
  EXPECT_TRUE(block());
  EXPECT_EQ(scene.stored(), "012");
  BlockSource all(scene.fetching, scene.all_for(*client));
  EXPECT_TRUE(all.trusts_stored());
}

}  // namespace
}  // namespace proxy::blocks
