// Clients that have a newer version of a file that grows than the cache: they name its entity tag,
// and ask for what comes after it. Bundler does so with each index of RubyGems.
#include <gtest/gtest.h>

#include "tests/scenario/large/large_peer_scene.hpp"
#include "tests/scenario/large/range_scene.hpp"

namespace scenario {
namespace {

struct Growth {
  std::uint64_t before;
  std::uint64_t after;
};

class GrowingFile : public RangeScene {
 protected:
  // The cache has the first version. The second one is longer.
  void grow(const Growth& growth) {
    begin(growth);
    expect_whole(get());
    expect_whole(get());
    end(growth);
  }
  void grow_at_parent(const Growth& growth) {
    begin(growth);
    expect_whole(get_of_parent());
    end(growth);
  }
  void expect_newer(const Response& response) const {
    if (response.status == 206) {
      expect_part(response, {size - 50, size - 1});
    } else {
      expect_whole(response);
    }
  }
  std::string from(std::uint64_t first) const { return std::to_string(first) + '-'; }

  static constexpr Growth kSmallAndLarge[] = {{800, 900}, {6 * kMiB, 7 * kMiB + 5}};

 private:
  void begin(const Growth& growth) {
    path = "/" + std::to_string(growth.before);
    size = growth.before;
    version = 1;
    etag = "\"v1\"";
  }
  void end(const Growth& growth) {
    EXPECT_EQ(asked().size(), 1U);
    size = growth.after;
    version = 2;
    etag = "\"v2\"";
  }
};
INSTANTIATE_TEST_SUITE_P(By, GrowingFile, kAllWays,
                         [](const auto& way) { return std::string(way.param.name); });

TEST_P(GrowingFile, IsCurrentAtAClientThatIsAheadOfTheCache) {
  for (const auto& growth : kSmallAndLarge) {
    grow(growth);
    EXPECT_EQ(get(from(size - 1), {{"If-None-Match", etag}}).status, 304);
    EXPECT_EQ(get(from(size), {{"If-None-Match", "W/\"v0\", " + etag}}).status, 304);
  }
}

TEST_P(GrowingFile, IsFetchedForAClientThatIsAheadOfTheCache) {
  for (const auto& growth : kSmallAndLarge) {
    grow(growth);
    expect_newer(get(from(size - 50), {{"If-None-Match", "\"v1.5\""}}));
  }
}

TEST_P(GrowingFile, IsFetchedForAClientThatContinuesANewerVersion) {
  for (const auto& growth : kSmallAndLarge) {
    grow(growth);
    expect_newer(get(from(size - 50), {{"If-Range", etag}}));
  }
}

// Only the parent has the older version.
TEST_P(GrowingFile, IsFetchedPastAParentThatIsBehind) {
  if (!way().neighbour) GTEST_SKIP() << "there is no parent";
  for (const auto& growth : kSmallAndLarge) {
    grow_at_parent(growth);
    expect_newer(get(from(size - 50), {{"If-None-Match", "\"v1.5\""}}));
    grow_at_parent({growth.before + 1, growth.after + 1});
    expect_newer(get(from(size - 50), {{"If-Range", etag}}));
  }
}

TEST_P(GrowingFile, IsAnsweredFromTheCacheForAnyOtherClient) {
  for (const auto& growth : kSmallAndLarge) {
    grow(growth);
    EXPECT_EQ(get(from(size - 50)).status, 416);
    EXPECT_EQ(get(from(size - 50), {{"If-None-Match", "\"v1\""}}).status, 304);
    EXPECT_EQ(get(from(size - 50), {{"If-Range", "\"v1\""}}).status, 416);
    EXPECT_EQ(get("10-19", {{"If-None-Match", etag}}).status, 206);
    EXPECT_EQ(asked().size(), 1U);
  }
}

TEST_P(GrowingFile, IsNotANeighboursFromACacheThatIsBehind) {
  for (const auto& growth : kSmallAndLarge) {
    grow(growth);
    const Fields neighbour{{"If-None-Match", etag}, {"Cache-Control", "only-if-cached"}};
    EXPECT_EQ(get(from(size - 50), neighbour).status, 504);
  }
}

TEST(GrowingFileOfASibling, IsFetchedPastASiblingThatIsBehind) {
  const LargeScene older(6 * kMiB + 5);
  LargePeer scene(7 * kMiB);
  scene.version = 2;
  scene.etag = "\"v2\"";
  scene.peer.on("/a", [&](const Request& request) { return older.answer(request); });
  const Response newer = scene.ask_for("7000000-", {{"If-None-Match", "\"v1.5\""}});
  scene.expect_part(newer, {7'000'000, 7 * kMiB - 1});
  EXPECT_EQ(scene.peer.count("/a"), 1U);
}

}  // namespace
}  // namespace scenario
