#include "proxy/upstream/origin_clocks.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace proxy::upstream {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;

struct SkewCase {
  const char* name;
  std::vector<seconds> ahead;
  std::optional<seconds> expected;
};

class AgreedSkew : public testing::TestWithParam<SkewCase> {};

TEST_P(AgreedSkew, IsWhatMostOriginsSay) {
  EXPECT_EQ(agreed_skew(GetParam().ahead), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Clocks, AgreedSkew,
    testing::Values(SkewCase{"Nobody", {}, std::nullopt},
                    SkewCase{"TwoAreTooFew", {2h, 2h}, std::nullopt},
                    SkewCase{"ThreeAgree", {2h, 2h + 60s, 2h - 60s}, seconds(2h)},
                    SkewCase{"OursIsAhead", {-2h, -2h, -2h}, seconds(-2h)},
                    SkewCase{"ThreeThatDiffer", {2h, 3h, 4h}, std::nullopt},
                    SkewCase{"AllAgreeWithUs", {0s, 1s, -1s}, std::nullopt},
                    SkewCase{"TenMinutesAreNoReason", {10min, 10min, 10min}, std::nullopt},
                    SkewCase{"AFewAreWrong", {2h, 2h, 2h, 0s, 0s, 0s}, std::nullopt},
                    SkewCase{"AFewAgreeWithUs", {2h, 2h, 2h, 2h, 0s, 0s}, seconds(2h)},
                    SkewCase{"OneIsWayOff", {2h, 2h, 2h, 900h}, seconds(2h)}),
    [](const auto& tested) { return tested.param.name; });

const OriginClocks::Clock::time_point kBegin{1h};

TEST(OriginClocks, CountEachHostOnce) {
  OriginClocks clocks;
  for (int i = 0; i < 9; ++i) clocks.record("a", 2h, kBegin);
  EXPECT_FALSE(clocks.skew(kBegin));
  clocks.record("b", 2h, kBegin);
  clocks.record("c", 2h, kBegin);
  EXPECT_EQ(clocks.skew(kBegin), seconds(2h));
}

TEST(OriginClocks, ForgetWhatWasLongAgo) {
  OriginClocks clocks;
  for (const char* const host : {"a", "b", "c"}) clocks.record(host, 2h, kBegin);
  EXPECT_TRUE(clocks.skew(kBegin + OriginClocks::kKept - 1s));
  EXPECT_FALSE(clocks.skew(kBegin + OriginClocks::kKept));
}

TEST(OriginClocks, SayNothingOfAClockThatWasSetSince) {
  OriginClocks clocks;
  for (const char* const host : {"a", "b", "c"}) clocks.record(host, 2h, kBegin);
  clocks.forget();
  EXPECT_FALSE(clocks.skew(kBegin));
  clocks.record("a", 0s, kBegin);
  EXPECT_FALSE(clocks.skew(kBegin));
  for (const char* const host : {"a", "b", "c"}) clocks.record(host, -1h, kBegin);
  EXPECT_EQ(clocks.skew(kBegin), seconds(-1h));
}

TEST(OriginClocks, AgreeAgainOnceOursIsSet) {
  OriginClocks clocks;
  for (const char* const host : {"a", "b", "c"}) clocks.record(host, 2h, kBegin);
  for (const char* const host : {"a", "b"}) clocks.record(host, 0s, kBegin + 1s);
  EXPECT_FALSE(clocks.skew(kBegin + 1s));
}

TEST(OriginClocks, HearThoseThatAgreeWithUsBeforeThoseThatDoNot) {
  OriginClocks clocks;
  auto now = kBegin;
  for (const char* const host : {"a", "b", "c", "d"}) {
    clocks.record(host, 0s, now);
    now += OriginClocks::kSample;
  }
  for (const char* const host : {"x", "y", "z"}) clocks.record(host, 2h, now);
  EXPECT_FALSE(clocks.skew(now));
}

TEST(OriginClocks, TakeAHostOnceASecondUnlessItTurnsRightOrWrong) {
  OriginClocks clocks;
  const auto all_say = [&](seconds ahead, OriginClocks::Clock::time_point now) {
    for (const char* const host : {"a", "b", "c"}) clocks.record(host, ahead, now);
    return clocks.skew(now);
  };
  EXPECT_EQ(all_say(2h, kBegin), seconds(2h));
  EXPECT_EQ(all_say(5h, kBegin + 999ms), seconds(2h)) << "each is known to be wrong";
  EXPECT_EQ(all_say(5h, kBegin + 1s), seconds(5h));
  EXPECT_EQ(all_say(0s, kBegin + 1s), std::nullopt);
  EXPECT_EQ(all_say(2h, kBegin + 1s), seconds(2h));
}

TEST(OriginClocks, RememberSoManyHosts) {
  OriginClocks clocks;
  for (std::size_t i = 0; i < 2 * OriginClocks::kMost; ++i) {
    clocks.record("wrong" + std::to_string(i), 2h, kBegin);
  }
  for (std::size_t i = 0; i < OriginClocks::kMost; ++i) {
    clocks.record("right" + std::to_string(i), 0s, kBegin + 1s);
  }
  EXPECT_FALSE(clocks.skew(kBegin + 1s)) << "the last ones count";
}

}  // namespace
}  // namespace proxy::upstream
