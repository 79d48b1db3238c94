#include "proxy/tiers/placement.hpp"

#include <gtest/gtest.h>

#include "proxy/cache/store.hpp"
#include "tests/digest/keys.hpp"

namespace proxy::tiers {
namespace {

using config::Duplicates;
using digest::quick_key;

constexpr std::uint64_t kMiB = 1 << 20;

// Of a sibling that takes a millisecond.
Offer near(std::optional<std::uint64_t> length) {
  return {
      .takes = peers::FirstByte().with(std::chrono::milliseconds(1)), .took = {}, .length = length};
}

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
      placement.record_asked(quick_key(1));
      const auto offer = near(c.length);
      EXPECT_TRUE(c.setting == Duplicates::always ||
                  placement.leaves_there(c.setting, quick_key(2), offer))
          << c.name << ": another URL";
      if (!placement.leaves_there(c.setting, quick_key(1), offer)) stored_at = request;
    }
    EXPECT_EQ(stored_at, c.stored_at) << c.name;
  }
}

unsigned requests_until_stored(Placement& placement, std::uint64_t url) {
  for (unsigned request = 1;; ++request) {
    placement.record_asked(quick_key(url));
    if (!placement.leaves_there(Duplicates::second, quick_key(url), near(10))) return request;
  }
}

TEST(Placement, StoresFewerDuplicatesWhileTheStoreLosesWhatNobodyElseHas) {
  cache::Budget budget(64 << 20);
  cache::Totals totals;
  Placement placement(budget, &totals);
  EXPECT_EQ(requests_until_stored(placement, 1), 2U);
  totals.evicted = totals.duplicates = 10;
  EXPECT_EQ(requests_until_stored(placement, 2), 2U) << "neighbours keep what was evicted";
  totals.evicted = 11;
  totals.lost = 1;
  EXPECT_EQ(requests_until_stored(placement, 3), 6U);
  std::uint64_t url = 4;
  while (url < 40 && requests_until_stored(placement, url) > 2) ++url;
  EXPECT_EQ(url, 7U) << "nothing more was lost";
}

struct LeftCase {
  const char* claim;
  bool left;
  Duplicates setting = Duplicates::never;
  Offer offer;
};

TEST(Placement, LeavesOnlyWhatIsCloseAtHandAndCanBeHadAgain) {
  const auto takes = [](std::chrono::microseconds time) { return peers::FirstByte().with(time); };
  using namespace std::chrono_literals;
  for (const LeftCase& c : {
           LeftCase{.claim = "a near sibling has it",
          .left = true,
          .offer = {.takes = takes(1ms), .took = {}, .length = {}}},
           LeftCase{.claim = "it is just near",
           .left = true,
           .offer = {.takes = takes(5ms), .took = {}, .length = {}}},
           LeftCase{.claim = "it is not near",
           .left = false,
           .offer = {.takes = takes(6ms), .took = {}, .length = {}}},
           LeftCase{.claim = "it was never measured",
           .left = false,
           .offer = {.takes = {}, .took = {}, .length = {}}},
           LeftCase{.claim = "this answer shows that it is near",
           .left = true,
           .offer = {.takes = {}, .took = std::chrono::microseconds(1ms), .length = {}}},
           LeftCase{.claim = "this answer was slow, and the estimate follows",
           .left = false,
           .offer = {.takes = takes(4ms), .took = std::chrono::microseconds(200ms), .length = {}}},
           LeftCase{.claim = "a near parent has it",
           .left = false,
           .offer = {.role = config::Role::parent, .takes = takes(1ms), .took = {}, .length = {}}},
           LeftCase{.claim = "the answer renews what is stored here",
           .left = false,
           .offer = {.takes = takes(1ms), .took = {}, .renews = true, .length = {}}},
           LeftCase{.claim = "the client wants much of a part",
           .left = false,
           .offer = {.takes = takes(1ms), .took = {}, .long_part = true, .length = {}}},
           LeftCase{.claim = "the settings store all",
           .left = false,
           .setting = Duplicates::always,
           .offer = {.takes = takes(1ms), .took = {}, .length = {}}},
           LeftCase{.claim = "nobody has asked twice",
           .left = true,
           .setting = Duplicates::second,
           .offer = {.takes = takes(1ms), .took = {}, .length = {}}},
       }) {
    cache::Budget budget(64 << 20);
    Placement placement(budget);
    placement.record_asked(quick_key(1));
    EXPECT_EQ(placement.leaves_there(c.setting, quick_key(1), c.offer), c.left) << c.claim;
  }
}

TEST(Placement, KnowsWhatWasAskedForBefore) {
  cache::Budget budget(64 << 20);
  Placement placement(budget);
  EXPECT_FALSE(placement.was_asked_before(quick_key(1)));
  placement.record_asked(quick_key(1));
  EXPECT_FALSE(placement.was_asked_before(quick_key(1))) << "that is the present request";
  placement.record_asked(quick_key(1));
  EXPECT_TRUE(placement.was_asked_before(quick_key(1)));
  EXPECT_FALSE(placement.was_asked_before(quick_key(2)));
}

TEST(Placement, CountsAnewWhatItHasStored) {
  cache::Budget budget(64 << 20);
  Placement placement(budget);
  const auto stores = [&] {
    return !placement.leaves_there(Duplicates::second, quick_key(1), near(10));
  };
  for (int request = 0; request < 3; ++request) placement.record_asked(quick_key(1));
  EXPECT_TRUE(stores());
  placement.record_asked(quick_key(1));
  EXPECT_FALSE(stores());
  placement.record_asked(quick_key(1));
  EXPECT_TRUE(stores());
}

TEST(Placement, TakesASmallShareOfTheMemory) {
  cache::Budget budget(64 << 20);
  const Placement placement(budget);
  EXPECT_GT(budget.used(), 0U);
  EXPECT_LE(budget.used(), (64U << 20) / 512);
}

}  // namespace
}  // namespace proxy::tiers
