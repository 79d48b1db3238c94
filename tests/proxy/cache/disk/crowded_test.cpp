// The limit on the number of entries in the index.
#include <random>

#include "scene.hpp"

namespace proxy::cache::disk {
namespace {

using support::TemporaryDirectory;

constexpr std::size_t kEntries = 320;
constexpr std::size_t kShare = kEntries / kWantedSegments;

Options crowded_options(const std::filesystem::path& path) {
  Options options = small_options(path);
  options.log.entries = kEntries;
  return options;
}

NewRecord tiny(std::uint64_t number) {
  return response(url_number(number), "x");
}

bool written(Alone& alone, std::uint64_t number) {
  return alone.log.append(tiny(number)) && alone.log.flush();
}

// The records are so small that the disk by itself has room for thousands.
TEST(CrowdedIndex, IsBounded) {
  const TemporaryDirectory directory;
  Alone alone(crowded_options(directory.path()));
  for (std::uint64_t i = 0; i < 5000; ++i) {
    ASSERT_TRUE(written(alone, i));
    ASSERT_LE(alone.index.entries(), kEntries + 1) << i;
  }
  EXPECT_GT(alone.counters.crowded_out, 5U);
  EXPECT_EQ(alone.counters.crowded_out, alone.counters.reclaimed);
  EXPECT_TRUE(alone.index.find(key_for(url_number(4999))));
  EXPECT_FALSE(alone.index.find(key_for(url_number(0))));
}

TEST(CrowdedIndex, KeepsUsedEntries) {
  const TemporaryDirectory directory;
  Alone alone(crowded_options(directory.path()));
  for (std::uint64_t i = 0; i < 5000; ++i) {
    ASSERT_TRUE(written(alone, i));
    ASSERT_TRUE(alone.index.use(key_for(url_number(0)))) << i;
  }
  EXPECT_GE(alone.counters.reinserted, 5U);
}

TEST(CrowdedIndex, MakesRoomThoughEverythingIsUsed) {
  const TemporaryDirectory directory;
  Options options = crowded_options(directory.path());
  options.log.keep = [](const Key&, const Location&) { return true; };
  Alone alone(options);
  for (std::uint64_t i = 0; i < 5000; ++i) {
    ASSERT_TRUE(written(alone, i));
    ASSERT_LE(alone.index.entries(), kEntries + 1) << i;
  }
  EXPECT_TRUE(alone.index.find(key_for(url_number(4999))));
  EXPECT_LE(alone.counters.reinserted, alone.counters.reclaimed * (kShare / 2));
}

// A record that replaces another one needs no more room in the index, so no other entry is dropped.
TEST(CrowdedIndex, LosesNothingToReplacements) {
  const TemporaryDirectory directory;
  Alone alone(crowded_options(directory.path()));
  for (std::uint64_t i = 0; i < 3000; ++i) {
    ASSERT_TRUE(written(alone, i % kEntries));
  }
  EXPECT_EQ(alone.index.entries(), kEntries);
  EXPECT_EQ(alone.counters.crowded_out, 0U);
}

TEST(CrowdedIndex, IsBoundedFromTheStartAfterTheLimitWasLowered) {
  const TemporaryDirectory directory;
  std::uint64_t index_bytes = 0;
  {
    Alone alone(small_options(directory.path()));
    for (std::uint64_t i = 0; i < 4000; ++i) ASSERT_TRUE(alone.log.append(tiny(i)));
    ASSERT_TRUE(alone.log.close());
    ASSERT_EQ(alone.index.entries(), 4000U);
    index_bytes = alone.index.bytes();
  }
  Options options = small_options(directory.path());
  options.log.entries = 2000;
  Alone alone(options);
  EXPECT_LT(alone.index.bytes(), index_bytes * 3 / 4);
  EXPECT_LE(alone.index.entries(), 2000U);
  EXPECT_GT(alone.index.entries(), 1000U);
  EXPECT_TRUE(alone.index.find(key_for(url_number(3999))));
}

// As the test above, after a crash: the newest segment has no footer, and no more entries are
// dropped.
TEST(CrowdedIndex, KeepsAllEntriesAfterACrash) {
  const TemporaryDirectory directory;
  std::vector<Key> held;
  {
    Alone alone(crowded_options(directory.path()));
    for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(alone.log.append(tiny(i)));
    ASSERT_TRUE(alone.log.flush());
    alone.index.each([&held](const Key& key, const Location&) { held.push_back(key); });
    alone.log.abandon();
  }
  Alone alone(crowded_options(directory.path()));
  EXPECT_EQ(alone.index.entries(), held.size());
  for (const Key& key : held) EXPECT_TRUE(alone.index.find(key));
}

}  // namespace
}  // namespace proxy::cache::disk
