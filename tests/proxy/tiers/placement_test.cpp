#include "proxy/tiers/placement.hpp"

#include <gtest/gtest.h>

#include "tests/digest/keys.hpp"

namespace proxy {
namespace {

using config::Duplicates;
using digest::quick_key;

constexpr std::uint64_t kMiB = 1 << 20;

struct PlacementCase {
  const char* name;
  Duplicates setting;
  std::optional<std::uint64_t> length;
  unsigned stored_at;  // the number of the first request whose response is stored; 0: none
};

TEST(Placement, StoresADuplicateAtTheRequestThatTheSettingNames) {
  for (const PlacementCase& c :
       {PlacementCase{"small", Duplicates::second, 10, 2},
        PlacementCase{"of unknown length", Duplicates::second, std::nullopt, 2},
        PlacementCase{"1 MiB", Duplicates::second, kMiB, 2},
        PlacementCase{"large", Duplicates::second, kMiB + 1, 3},
        PlacementCase{"always", Duplicates::always, kMiB + 1, 1},
        PlacementCase{"never", Duplicates::never, 10, 0}}) {
    cache::Budget budget(64 << 20);
    Placement placement(budget);
    unsigned stored_at = 0;
    for (unsigned request = 1; request <= 5 && stored_at == 0; ++request) {
      placement.note_asked(quick_key(1));
      EXPECT_FALSE(c.setting != Duplicates::always &&
                   placement.stores_duplicate(c.setting, quick_key(2), c.length))
          << c.name << ": another URL";
      if (placement.stores_duplicate(c.setting, quick_key(1), c.length)) stored_at = request;
    }
    EXPECT_EQ(stored_at, c.stored_at) << c.name;
  }
}

TEST(Placement, CountsAnewWhatItHasStored) {
  cache::Budget budget(64 << 20);
  Placement placement(budget);
  const auto stores = [&] {
    return placement.stores_duplicate(Duplicates::second, quick_key(1), 10);
  };
  for (int request = 0; request < 3; ++request) placement.note_asked(quick_key(1));
  EXPECT_TRUE(stores());
  placement.note_asked(quick_key(1));
  EXPECT_FALSE(stores());
  placement.note_asked(quick_key(1));
  EXPECT_TRUE(stores());
}

TEST(Placement, TakesASmallShareOfTheMemory) {
  cache::Budget budget(64 << 20);
  const Placement placement(budget);
  EXPECT_GT(budget.used(), 0U);
  EXPECT_LE(budget.used(), (64U << 20) / 512);
}

}  // namespace
}  // namespace proxy
