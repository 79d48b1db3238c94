#include "proxy/cache/disk/pace.hpp"

#include <gtest/gtest.h>

namespace proxy::cache::disk {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

struct Writes {
  int count;
  std::uint64_t bytes;
  std::chrono::microseconds each;
};

struct PaceCase {
  const char* what;
  std::vector<Writes> writes;
  std::uint64_t least;  // MiB a second, at its end
  std::uint64_t most;
};

constexpr Writes kFastOnes{20, kMiB, 1'000us};
constexpr Writes kSlowOnes{20, kMiB, 1'000'000us};

TEST(WritePace, IsThatOfTheLastMeaningfulWrites) {
  const PaceCase cases[] = {
      {"not known yet", {}, 1'000'000, 10'000'000},
      {"of a fast disk", {kFastOnes}, 900, 1'024},
      {"of a slow one", {kSlowOnes}, 1, 1},
      {"soon slow", {kFastOnes, {4, kMiB, 1'000'000us}}, 1, 1},
      {"soon fast again", {kSlowOnes, {25, kMiB, 1'000us}}, 100, 1'000},
      {"one hiccup", {kFastOnes, {1, kMiB, 500'000us}, {1, kMiB, 1'000us}}, 8, 1'000},
      {"a wake-up for each of a few bytes", {kFastOnes, {100'000, 300, 60us}}, 900, 1'024},
      {"heads that move for each", {kFastOnes, {10'000, 4'096, 12'000us}}, 900, 1'024},
      {"few, but fast enough to show", {kSlowOnes, {10'000, 4'096, 60us}}, 60, 70},
      {"few after slow ones, slower yet", {kSlowOnes, {100, 4'096, 20'000us}}, 1, 1},
      {"few that take very long", {kFastOnes, {1, 300, 5'000'000us}}, 0, 0},
      {"nothing, in no time", {kSlowOnes, {1'000, kMiB, 0us}, {9, 0, 0us}}, 1'000, 10'000'000},
  };
  for (const PaceCase& each : cases) {
    WritePace pace;
    for (const Writes& writes : each.writes) {
      for (int i = 0; i < writes.count; ++i) pace.note(writes.bytes, writes.each);
    }
    EXPECT_GE((pace.bytes_in(1s) + kMiB / 10) / kMiB, each.least) << each.what;
    EXPECT_LE(pace.bytes_in(1s) / kMiB, each.most) << each.what;
  }
}

TEST(WritePace, SaysHowMuchIsWrittenInATime) {
  WritePace pace;
  for (int i = 0; i < 100; ++i) pace.note(kMiB, 500ms);
  EXPECT_NEAR(static_cast<double>(pace.bytes_in(250ms)), kMiB / 2.0, 10.0);
  EXPECT_EQ(pace.bytes_in(0ms), 0U);
}

}  // namespace
}  // namespace proxy::cache::disk
