#include "proxy/cache/departures.hpp"

#include <gtest/gtest.h>

namespace proxy::cache {
namespace {

using namespace std::chrono_literals;

const Time kNow{1'000'000s};

digest::Key key(int number) {
  return digest::key_of(digest::Method::get, "http://a/" + std::to_string(number));
}

// A table with one place.
struct Narrow {
  Budget budget{1 << 20};
  Departures departures{budget, 0, 60s};
};

TEST(Departures, KnowTheirKeysForTheRememberedTime) {
  Narrow narrow;
  EXPECT_EQ(narrow.departures.of(key(1), kNow), Departure::none);
  narrow.departures.remember(key(1), kNow);
  EXPECT_EQ(narrow.departures.of(key(1), kNow + 60s), Departure::lately);
  EXPECT_EQ(narrow.departures.of(key(1), kNow + 61s), Departure::none);
  EXPECT_EQ(narrow.departures.of(key(2), kNow), Departure::none) << "nothing was displaced";
}

TEST(Departures, SayThatTheyDoNotKnowWhereAKeyWasDisplaced) {
  Narrow narrow;
  narrow.departures.remember(key(1), kNow);
  narrow.departures.remember(key(2), kNow + 30s);
  EXPECT_EQ(narrow.departures.of(key(2), kNow + 31s), Departure::lately);
  EXPECT_EQ(narrow.departures.of(key(1), kNow + 31s), Departure::unknown);
  narrow.departures.remember(key(2), kNow + 40s);
  EXPECT_EQ(narrow.departures.of(key(1), kNow + 41s), Departure::unknown) << "for both times";
  EXPECT_EQ(narrow.departures.of(key(1), kNow + 101s), Departure::none);
}

TEST(Departures, DisplaceWhatIsForgottenWithoutATrace) {
  Narrow narrow;
  narrow.departures.remember(key(1), kNow);
  narrow.departures.remember(key(2), kNow + 61s);
  EXPECT_EQ(narrow.departures.of(key(1), kNow + 61s), Departure::none);
}

TEST(Departures, SayThatTheyDoNotKnowWhatLeftInAnEarlierRun) {
  Narrow narrow;
  narrow.departures.lose_earlier(kNow);
  EXPECT_EQ(narrow.departures.of(key(1), kNow + 60s), Departure::before_this_run);
  EXPECT_EQ(narrow.departures.of(key(1), kNow + 61s), Departure::none);
}

}  // namespace
}  // namespace proxy::cache
