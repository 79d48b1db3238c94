#include "proxy/upstream/origin_health.hpp"

#include <gtest/gtest.h>

namespace proxy::upstream {
namespace {

using namespace std::chrono_literals;
using What = Failure::What;

const OriginHealth::Clock::time_point kNow{1000s};
const Failure kUnreachable{Failure::Where::upstream, What::unreachable, {}};

Endpoint origin(const std::string& host, NamedBy named_by = NamedBy::client) {
  return {false, host, 80, named_by};
}

TEST(OriginHealth, AnOriginThatHasWorkedFailsAfterThreeFailuresInARow) {
  OriginHealth health;
  health.answered(origin("a.test"));
  for (std::uint64_t n = 1; n <= OriginHealth::kFailing; ++n) {
    EXPECT_TRUE(health.failing(kNow).empty()) << n;
    health.failed(origin("a.test"), kUnreachable, kNow + n * 1s);
  }
  const auto failing = health.failing(kNow + 5s);
  ASSERT_EQ(failing.size(), 1U);
  EXPECT_EQ(failing[0].origin, "http://a.test:80");
  EXPECT_EQ(failing[0].why.what, What::unreachable);
  EXPECT_EQ(failing[0].failures, 3U);
  EXPECT_EQ(failing[0].since, kNow + 1s);
}

TEST(OriginHealth, TellsWhoHasFailedLatelyBeItOnce) {
  OriginHealth health;
  health.failed(origin("a.test"), kUnreachable, kNow);
  health.failed(origin("b.test"), kUnreachable, kNow + 30s);
  EXPECT_EQ(health.failed_lately(kNow + 60s).size(), 2U);
  const auto left = health.failed_lately(kNow + 61s);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].origin, "http://b.test:80");
  EXPECT_EQ(left[0].failures, 1U);
  health.answered(origin("b.test"));
  EXPECT_TRUE(health.failed_lately(kNow + 61s).empty());
}

TEST(OriginHealth, AnOriginRestsForAsLongAsItWants) {
  OriginHealth health;
  EXPECT_FALSE(health.rests(origin("a.test"), kNow));
  health.rest(origin("a.test"), kNow + 60s);
  health.rest(origin("a.test"), kNow + 10s);
  EXPECT_TRUE(health.rests(origin("a.test"), kNow + 59s));
  EXPECT_FALSE(health.rests(origin("a.test"), kNow + 60s));
  EXPECT_FALSE(health.rests(origin("b.test"), kNow));
  health.answered(origin("a.test"));
  EXPECT_TRUE(health.rests(origin("a.test"), kNow)) << "other URLs of it may answer meanwhile";
  for (std::size_t n = 0; n < 2 * OriginHealth::kMost; ++n) {
    health.rest(origin(std::to_string(n)), kNow + 1s);
  }
  EXPECT_TRUE(health.rests(origin("a.test"), kNow)) << "the longest rest is kept";
  EXPECT_TRUE(health.failing(kNow).empty());
}

TEST(OriginHealth, AnAnswerEndsIt) {
  OriginHealth health;
  health.answered(origin("a.test"));
  for (int n = 0; n < 5; ++n) health.failed(origin("a.test"), kUnreachable, kNow);
  health.answered(origin("a.test"));
  EXPECT_TRUE(health.failing(kNow).empty());
  for (int n = 0; n < 2; ++n) health.failed(origin("a.test"), kUnreachable, kNow);
  EXPECT_TRUE(health.failing(kNow).empty()) << "counts from the last answer";
}

TEST(OriginHealth, OriginsOfOtherSettingsAreForgotten) {
  OriginHealth health;
  for (int n = 0; n < 5; ++n) {
    health.failed(origin("a.test", NamedBy::configured), kUnreachable, kNow);
    health.failed(origin("b.test"), kUnreachable, kNow);
    health.failed(origin("c.test", NamedBy::configured), kUnreachable, kNow);
  }
  EXPECT_EQ(health.failing(kNow).size(), 3U);
  health.forget_mapped([](const Endpoint& one) { return one.host == "c.test"; });
  const auto failing = health.failing(kNow);
  ASSERT_EQ(failing.size(), 2U);
  EXPECT_EQ(failing[0].origin, "http://b.test:80");
  EXPECT_EQ(failing[1].origin, "http://c.test:80") << "is mapped as before, and fails";
}

TEST(OriginHealth, AnUnknownOriginFailsAfterMoreFailures) {
  OriginHealth health;
  const auto fail = [&](const std::string& host, std::uint64_t times,
                        NamedBy named_by = NamedBy::client) {
    for (; times > 0; --times) health.failed(origin(host, named_by), kUnreachable, kNow);
  };
  fail("mistake.test", OriginHealth::kFailingUnknown - 1);
  fail("mirror.test", OriginHealth::kFailing, NamedBy::configured);
  ASSERT_EQ(health.failing(kNow).size(), 1U);
  EXPECT_EQ(health.failing(kNow)[0].origin, "http://mirror.test:80");
  fail("mistake.test", 1);
  ASSERT_EQ(health.failing(kNow).size(), 2U) << "as after a restart while the origin is down";
  EXPECT_EQ(health.failing(kNow)[1].origin, "http://mistake.test:80");
  health.answered(origin("mistake.test"));
  EXPECT_EQ(health.failing(kNow).size(), 1U);
}

TEST(OriginHealth, UnknownNamesThatDoNotFailYetGiveWay) {
  OriginHealth health;
  for (std::size_t n = 0; n < 2 * OriginHealth::kMostUnknown; ++n)
    health.failed(origin("mistake" + std::to_string(n) + ".test"), kUnreachable, kNow);
  for (std::uint64_t n = 0; n < OriginHealth::kFailingUnknown; ++n)
    health.failed(origin("mirror.test"), kUnreachable, kNow + 1s);
  ASSERT_EQ(health.failing(kNow + 1s).size(), 1U);
  EXPECT_EQ(health.failing(kNow + 1s)[0].origin, "http://mirror.test:80");
}

TEST(OriginHealth, ANameWithoutAnAddressMayBeAMistakeUnlessTheSettingsHaveIt) {
  OriginHealth health;
  const Failure no_address{Failure::Where::upstream, What::no_address, {}};
  for (int n = 0; n < 9; ++n) {
    health.failed(origin("mistake.test"), no_address, kNow);
    health.failed(origin("mirror.test", NamedBy::configured), no_address, kNow);
  }
  const auto failing = health.failing(kNow);
  ASSERT_EQ(failing.size(), 1U);
  EXPECT_EQ(failing[0].origin, "http://mirror.test:80");
  EXPECT_EQ(health.failures(What::no_address), 18U) << "all count";
}

TEST(OriginHealth, UnknownOriginsLeaveRoomForOthers) {
  OriginHealth health;
  for (std::size_t i = 0; i < OriginHealth::kMost; ++i) {
    for (int n = 0; n < 5; ++n) health.failed(origin(std::to_string(i)), kUnreachable, kNow);
  }
  EXPECT_EQ(health.failing(kNow).size(), OriginHealth::kMostUnknown);
  const auto mirror = origin("mirror.test", NamedBy::configured);
  for (int n = 0; n < 3; ++n) health.failed(mirror, kUnreachable, kNow);
  EXPECT_EQ(health.failing(kNow).size(), OriginHealth::kMostUnknown + 1);
}

TEST(OriginHealth, IsForgottenWhenNobodyAsksAnyMore) {
  OriginHealth health;
  const auto mirror = origin("mirror.test", NamedBy::configured);
  for (int n = 0; n < 3; ++n) health.failed(mirror, kUnreachable, kNow);
  EXPECT_EQ(health.failing(kNow + OriginHealth::kForgotten).size(), 1U);
  EXPECT_TRUE(health.failing(kNow + OriginHealth::kForgotten + 1s).empty());
}

TEST(OriginHealth, IsBounded) {
  OriginHealth health;
  for (std::size_t i = 0; i < OriginHealth::kMost + 10; ++i) {
    const auto one = origin(std::to_string(i) + ".test", NamedBy::configured);
    for (int n = 0; n < 3; ++n) health.failed(one, kUnreachable, kNow);
  }
  EXPECT_EQ(health.failing(kNow).size(), OriginHealth::kMost);
  const auto later = kNow + OriginHealth::kForgotten + 1s;
  health.failed(origin("new.test", NamedBy::configured), kUnreachable, later);
  health.failed(origin("new.test", NamedBy::configured), kUnreachable, later);
  health.failed(origin("new.test", NamedBy::configured), kUnreachable, later);
  EXPECT_EQ(health.failing(later).size(), 1U) << "what is old makes room";
}

}  // namespace
}  // namespace proxy::upstream
