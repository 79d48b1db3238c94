#include "peers/suspicion.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace peers {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime kNow{std::chrono::hours(1000)};

// What a check has found, and when.
struct Found {
  enum What : std::uint8_t { contradiction, variation } what;
  std::chrono::minutes at;
  std::string url;
};
constexpr auto kContradiction = Found::contradiction;
constexpr auto kVariation = Found::variation;

struct Case {
  const char* name;
  bool distrusted;  // by the last one
  std::vector<Found> found;
};

bool distrusted_by_last(const Case& c) {
  Suspicion suspicion;
  bool distrusted = false;
  for (const auto& [what, at, url] : c.found) {
    EXPECT_FALSE(distrusted) << c.name << ": too early";
    if (what == kVariation) {
      suspicion.origin_varies(url, kNow + at);
    } else {
      distrusted = suspicion.contradicted(url, kNow + at);
    }
  }
  return distrusted;
}

TEST(Suspicion, ConvictsForSeveralUrlsOfOriginsThatAgreeWithThemselves) {
  const auto a = [](int number) { return "http://a.test/" + std::to_string(number); };
  const std::string b = "http://b.test/";
  for (const Case& c : {
           Case{"ThreeUrls",
                true,
                {{kContradiction, 0min, a(1)},
                 {kContradiction, 0min, a(2)},
                 {kContradiction, 59min, a(3)}}},
           Case{"TwoUrls", false, {{kContradiction, 0min, a(1)}, {kContradiction, 1min, a(2)}}},
           Case{"OneUrlThrice",
                false,
                {{kContradiction, 0min, a(1)},
                 {kContradiction, 1min, a(1)},
                 {kContradiction, 2min, a(1)}}},
           Case{"OneTooLongAgo",
                false,
                {{kContradiction, 0min, a(1)},
                 {kContradiction, 1min, a(2)},
                 {kContradiction, 60min, a(3)}}},
           Case{"OneSeenAgain",
                true,
                {{kContradiction, 0min, a(1)},
                 {kContradiction, 50min, a(1)},
                 {kContradiction, 61min, a(2)},
                 {kContradiction, 62min, a(3)}}},
           Case{"TheOriginVariesThen",
                false,
                {{kContradiction, 0min, a(1)},
                 {kContradiction, 0min, a(2)},
                 {kVariation, 1min, a(4)},
                 {kContradiction, 60min, a(3)}}},
           Case{"TheOriginVariedBefore",
                false,
                {{kVariation, 0min, a(1)},
                 {kContradiction, 1min, a(1)},
                 {kContradiction, 1min, a(2)},
                 {kContradiction, 59min, a(3)}}},
           Case{"TheOriginVariedLongAgo",
                true,
                {{kVariation, 0min, a(1)},
                 {kContradiction, 60min, a(1)},
                 {kContradiction, 60min, a(2)},
                 {kContradiction, 60min, a(3)}}},
           Case{"AnotherOriginVaries",
                true,
                {{kContradiction, 0min, a(1)},
                 {kContradiction, 0min, a(2)},
                 {kVariation, 0min, b},
                 {kContradiction, 0min, a(3)}}},
       }) {
    EXPECT_EQ(distrusted_by_last(c), c.distrusted) << c.name;
  }
}

TEST(Suspicion, LastsForAWhile) {
  Suspicion suspicion;
  EXPECT_FALSE(suspicion.exists(kNow));
  EXPECT_FALSE(suspicion.contradicted("http://a.test/1", kNow));
  EXPECT_TRUE(suspicion.exists(kNow + 59min));
  EXPECT_FALSE(suspicion.exists(kNow + 60min));
}

TEST(Suspicion, ConvictsSoonerOnceItHasConvicted) {
  Suspicion suspicion;
  std::vector<bool> distrusted;
  for (int i = 0; i < 6; ++i) {
    distrusted.push_back(suspicion.contradicted("http://a.test/" + std::to_string(i), kNow));
  }
  EXPECT_EQ(distrusted, (std::vector<bool>{false, false, true, false, true, false}));
  EXPECT_TRUE(suspicion.exists(kNow));
}

TEST(Suspicion, FollowsUpAFewDoubtsAtATime) {
  Suspicion suspicion;
  {
    std::deque<Suspicion::Doubt> doubts;
    for (std::size_t i = 0; i < Suspicion::kMostDoubts; ++i) {
      EXPECT_TRUE(doubts.emplace_back(suspicion).is_followed_up());
    }
    EXPECT_FALSE(Suspicion::Doubt(suspicion).is_followed_up());
  }
  EXPECT_TRUE(Suspicion::Doubt(suspicion).is_followed_up());
}

}  // namespace
}  // namespace peers
