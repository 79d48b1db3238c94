#include "peers/peer.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>

namespace peers {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime kNow{std::chrono::hours(1000)};

TEST(Suspicion, LetsAnOriginThatVariesTestifyAgainOnlyAfterAWhile) {
  Suspicion suspicion;
  EXPECT_TRUE(suspicion.may_testify("http://a.test/1", kNow));
  suspicion.origin_varies("http://a.test/1", kNow);
  EXPECT_FALSE(suspicion.may_testify("http://a.test/1", kNow));
  EXPECT_FALSE(suspicion.may_testify("http://a.test/2", kNow + 59min));
  EXPECT_TRUE(suspicion.may_testify("http://a.test/2", kNow + 60min));
  EXPECT_TRUE(suspicion.may_testify("http://a.test:81/1", kNow)) << "another origin";
  suspicion.origin_varies("http://a.test/3", kNow + 59min);
  EXPECT_FALSE(suspicion.may_testify("http://a.test/1", kNow + 61min));
}

TEST(Suspicion, RemembersABoundedNumberOfOrigins) {
  Suspicion suspicion;
  const auto url = [](std::size_t i) { return "http://" + std::to_string(i) + ".test/"; };
  for (std::size_t i = 0; i <= Suspicion::kMostOrigins; ++i) {
    suspicion.origin_varies(url(i), kNow);
  }
  EXPECT_TRUE(suspicion.may_testify(url(0), kNow)) << "the oldest is forgotten";
  EXPECT_FALSE(suspicion.may_testify(url(1), kNow));
}

TEST(Suspicion, FollowsUpAFewDoubtsAtATime) {
  Suspicion suspicion;
  {
    std::deque<Suspicion::Doubt> doubts;
    for (std::size_t i = 0; i < Suspicion::kMostDoubts; ++i) {
      const auto url = "http://" + std::to_string(i) + ".test/";
      EXPECT_TRUE(doubts.emplace_back(suspicion, url).is_followed_up());
    }
    EXPECT_FALSE(Suspicion::Doubt(suspicion, "http://a.test/").is_followed_up());
  }
  EXPECT_TRUE(Suspicion::Doubt(suspicion, "http://a.test/").is_followed_up());
}

TEST(Suspicion, FollowsUpOneDoubtOfAnOriginAtATime) {
  Suspicion suspicion;
  const Suspicion::Doubt first(suspicion, "http://a.test/1");
  EXPECT_TRUE(first.is_followed_up());
  EXPECT_FALSE(Suspicion::Doubt(suspicion, "http://a.test/2").is_followed_up());
  EXPECT_TRUE(Suspicion::Doubt(suspicion, "http://b.test/1").is_followed_up());
}

}  // namespace
}  // namespace peers
