#include <gtest/gtest.h>

#include <algorithm>

#include "proxy/cache/disk/index.hpp"
#include "tests/digest/keys.hpp"

namespace proxy::cache::disk {
namespace {

constexpr std::size_t kFewest = 500'000;
constexpr std::size_t kMost = 2'000'000;
constexpr double kAllowed = 80;
// The most bytes of the digest per entry. Its filter has at most 3 times the positions that it
// needs, each with a counter of 4 bits and a bit of the projection (digest/counting_filter.hpp).
constexpr double kDigest = 3 * 12 * (4 + 1) / 8.0;
// The overhead of malloc for the maps' arrays, and the rest of the shards.
constexpr double kFixed = 128 * (64 + 2 * 4096);

TEST(IndexMemory, StaysUnderEightyBytesPerEntryWithTheDigest) {
  Index index;
  double worst = 0;
  std::size_t worst_at = 0;
  for (std::uint64_t i = 0; i < kMost; ++i) {
    index.put(digest::quick_key(i), Location{.at = {1, 32}});
    if (i < kFewest || i % (kFewest / 100) != 0) continue;
    const auto entries = static_cast<double>(i);
    const double each = (static_cast<double>(index.bytes()) + kFixed) / entries;
    if (each > worst) {
      worst = each;
      worst_at = i;
    }
  }
  RecordProperty("worst_bytes_per_entry", std::to_string(worst));
  std::cout << worst << " bytes per entry at " << worst_at << " entries\n";
  EXPECT_LE(worst + kDigest, kAllowed);
}

}  // namespace
}  // namespace proxy::cache::disk
