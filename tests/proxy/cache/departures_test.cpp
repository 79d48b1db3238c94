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

Departure of(const Narrow& narrow, int number, Time now) {
  return departure(narrow.departures.of(key(number), now));
}

TEST(Departures, KnowTheirKeysForTheRememberedTime) {
  Narrow narrow;
  EXPECT_EQ(of(narrow, 1, kNow), Departure::none);
  narrow.departures.remember(key(1), kNow);
  EXPECT_EQ(of(narrow, 1, kNow + 60s), Departure::lately);
  EXPECT_EQ(of(narrow, 1, kNow + 61s), Departure::none);
  EXPECT_EQ(of(narrow, 2, kNow), Departure::none) << "nothing was displaced";
}

TEST(Departures, SayThatTheyDoNotKnowWhereAKeyWasDisplaced) {
  Narrow narrow;
  narrow.departures.remember(key(1), kNow);
  narrow.departures.remember(key(2), kNow + 30s);
  EXPECT_EQ(of(narrow, 2, kNow + 31s), Departure::lately);
  EXPECT_EQ(of(narrow, 1, kNow + 31s), Departure::unknown);
  narrow.departures.remember(key(2), kNow + 40s);
  EXPECT_EQ(of(narrow, 1, kNow + 41s), Departure::unknown) << "for both times";
  EXPECT_EQ(of(narrow, 1, kNow + 61s), Departure::none);
}

TEST(Departures, TellWhatADigestStillClaimsFromWhatItHasNotClaimed) {
  Narrow narrow;
  narrow.departures.remember(key(1), kNow + 10s);
  narrow.departures.remember(key(2), kNow + 20s);
  const auto left = narrow.departures.of(key(2), kNow + 21s);
  EXPECT_EQ(departure(left, kNow + 19s), Departure::lately);
  EXPECT_EQ(departure(left, kNow + 20s + 900ms), Departure::lately) << "in the same second";
  EXPECT_EQ(departure(left, kNow + 21s), Departure::none) << "the digest does not claim it";
  const auto displaced = narrow.departures.of(key(1), kNow + 21s);
  EXPECT_EQ(departure(displaced, kNow + 10s), Departure::unknown);
  EXPECT_EQ(departure(displaced, kNow + 11s), Departure::none) << "nothing displaced left since";
}

TEST(Departures, ForgetNoTimeWhereSeveralKeysAreDisplaced) {
  Narrow narrow;
  narrow.departures.remember(key(1), kNow + 10s);
  for (const int other : {2, 3, 3, 2}) narrow.departures.remember(key(other), kNow + 20s);
  narrow.departures.remember(key(4), kNow + 30s);
  const auto displaced = narrow.departures.of(key(1), kNow + 31s);
  EXPECT_EQ(departure(displaced, kNow + 20s), Departure::unknown);
  EXPECT_EQ(departure(displaced, kNow + 21s), Departure::none);
}

TEST(Departures, DisplaceWhatIsForgottenWithoutATrace) {
  Narrow narrow;
  narrow.departures.remember(key(1), kNow);
  narrow.departures.remember(key(2), kNow + 61s);
  EXPECT_EQ(of(narrow, 1, kNow + 61s), Departure::none);
  narrow.departures.remember(key(3), kNow + 1'000s);
  EXPECT_EQ(of(narrow, 1, kNow + 1'000s), Departure::none);
}

TEST(Departures, SayThatTheyDoNotKnowWhatLeftInAnEarlierRun) {
  Narrow narrow;
  narrow.departures.lose_earlier(kNow);
  EXPECT_EQ(of(narrow, 1, kNow + 60s), Departure::unknown);
  EXPECT_EQ(of(narrow, 1, kNow + 61s), Departure::none);
  const auto lost = narrow.departures.of(key(1), kNow + 2s);
  EXPECT_EQ(departure(lost, kNow - 1s), Departure::unknown);
  EXPECT_EQ(departure(lost, kNow + 1s), Departure::none) << "a digest of this run";
}

}  // namespace
}  // namespace proxy::cache
