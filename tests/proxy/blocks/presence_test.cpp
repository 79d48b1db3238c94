#include "proxy/blocks/presence.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/blocks/block_scene.hpp"

namespace proxy::blocks {
namespace {

constexpr const char* kFirstOfTwo =
    "Via: 1.1 cache-b\r\nCache-Control: only-if-cached\r\nHearsay-Part: first\r\n"
    "Range: bytes=0-2097151\r\n";

// A request for the object of four blocks, while these blocks are stored or under way.
struct PresenceCase {
  const char* claim;
  std::string lines;
  std::vector<std::uint32_t> stored;
  Presence presence;
  std::string ranges;  // that are sent, as "0-99 200-299"
  std::optional<cache::BlockRange> under_way = {};
  std::string method = "GET";
};

std::string text_of(const http::ByteRanges& ranges) {
  std::string text;
  for (const auto& range : ranges) {
    if (!text.empty()) text += ' ';
    text += std::to_string(range.first) + "-" + std::to_string(range.last);
  }
  return text;
}

void expect_presence(const std::vector<PresenceCase>& rows) {
  for (const auto& row : rows) {
    SCOPED_TRACE(row.claim);
    BlockScene scene;
    for (const auto block : row.stored) scene.store(block);
    if (row.under_way)
      scene.runs.begin(scene.object, {.blocks = *row.under_way}, scene.io.get_executor());
    const auto client = scene.asks(row.lines, row.method);
    EXPECT_EQ(presence(scene.fetching, **client, scene.url_key, *scene.object), row.presence);
    const auto ranges = ranges_of(scene.fetching, {**client, scene.url_key, *scene.object},
                                  parts_wanted(**client, *scene.object));
    EXPECT_EQ(text_of(ranges), row.ranges);
    scene.runs.clear();
  }
}

TEST(PresenceOfAnObject, IsThatOfTheBlocksThatAreSent) {
  expect_presence({
      {"all of it", "", {0, 1, 2, 3}, Presence::stored, "0-3146727"},
      {"all but one", "", {0, 1, 3}, Presence::missing, "0-3146727"},
      {"a range of a stored block", "Range: bytes=5-9\r\n", {0}, Presence::stored, "5-9"},
      {"a range of another", "Range: bytes=5-9\r\n", {1}, Presence::missing, "5-9"},
      {"a range over two",
       "Range: bytes=1048575-1048576\r\n",
       {0},
       Presence::missing,
       "1048575-1048576"},
      {"two ranges", "Range: bytes=0-9,-10\r\n", {0, 3}, Presence::stored, "0-9 3146718-3146727"},
      {"one of two is missing",
       "Range: bytes=0-9,-10\r\n",
       {0},
       Presence::missing,
       "0-9 3146718-3146727"},
  });
}

TEST(PresenceOfAnObject, NeedsNoBlockForAnAnswerWithoutABody) {
  expect_presence({
      {.claim = "a 416",
       .lines = "Range: bytes=3146728-\r\n",
       .stored = {},
       .presence = Presence::stored,
       .ranges = ""},
      {.claim = "an answer to HEAD",
       .lines = "",
       .stored = {},
       .presence = Presence::stored,
       .ranges = "",
       .method = "HEAD"},
      {.claim = "a 304",
       .lines = "If-None-Match: \"v1\"\r\n",
       .stored = {},
       .presence = Presence::stored,
       .ranges = "0-3146727"},
  });
}

TEST(PresenceOfAnObject, CountsWhatARunSupplies) {
  expect_presence({
      {"the run has the rest", "", {0}, Presence::under_way, "0-3146727", {{1, 3}}},
      {"a block behind the run is missing", "", {0}, Presence::missing, "0-3146727", {{1, 2}}},
      {"a block before it is", "", {}, Presence::missing, "0-3146727", {{1, 3}}},
      {"the run has what is stored",
       "Range: bytes=0-9\r\n",
       {0},
       Presence::stored,
       "0-9",
       {{0, 3}}},
  });
}

TEST(PresenceOfAnObject, IsThatOfTheFirstBlocksIfTheseWillDo) {
  expect_presence({
      {"the first is stored", kFirstOfTwo, {0}, Presence::stored, "0-1048575"},
      {"both are", kFirstOfTwo, {0, 1}, Presence::stored, "0-2097151"},
      {"the second is", kFirstOfTwo, {1}, Presence::missing, "0-2097151"},
      {"the client has not said so",
       "Via: 1.1 cache-b\r\nCache-Control: only-if-cached\r\nRange: bytes=0-2097151\r\n",
       {0},
       Presence::missing,
       "0-2097151"},
      {"it would wait for the rest",
       "Via: 1.1 cache-b\r\nHearsay-Part: first\r\nRange: bytes=0-2097151\r\n",
       {0},
       Presence::missing,
       "0-2097151"},
      {"it asks for two ranges",
       "Via: 1.1 cache-b\r\nCache-Control: only-if-cached\r\nHearsay-Part: first\r\n"
       "Range: bytes=0-9,2097152-2097160\r\n",
       {0},
       Presence::missing,
       "0-9 2097152-2097160"},
  });
}

}  // namespace
}  // namespace proxy::blocks
