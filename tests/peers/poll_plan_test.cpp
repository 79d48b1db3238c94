#include "peers/poll_plan.hpp"

#include <gtest/gtest.h>

namespace peers {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::seconds;

const Time kNow{1000s};

struct Case {
  const char* name;
  LastPoll last;
  double jitter;
  milliseconds gap;
};

LastPoll good(Kind kind, std::optional<seconds> expires_in = std::nullopt) {
  return {
      .kind = kind, .outcome = Polled::fetched, .failures_in_a_row = 0, .expires_in = expires_in};
}

LastPoll failed(Kind kind, std::uint32_t failures) {
  return {.kind = kind, .outcome = Polled::failed, .failures_in_a_row = failures, .expires_in = {}};
}

class NextPoll : public testing::TestWithParam<Case> {};

TEST_P(NextPoll, IsAsPlanned) {
  EXPECT_EQ(next_poll(GetParam().last, 1s, GetParam().jitter, kNow) - kNow, GetParam().gap);
}

INSTANTIATE_TEST_SUITE_P(
    Plan, NextPoll,
    testing::Values(Case{"HearsayEachPoll", good(Kind::hearsay), 0, 1s},
                    Case{"HearsayIgnoresExpires", good(Kind::hearsay, 300s), 0, 1s},
                    Case{"JitterOnlyShortens", good(Kind::hearsay), 0.5, 950ms},
                    Case{"UnknownLikeHearsay", good(Kind::unknown), 0, 1s},
                    Case{"UnchangedLikeFetched", {Kind::hearsay, Polled::unchanged, 0, {}}, 0, 1s},
                    Case{"SquidAtItsExpires", good(Kind::squid, 40s), 0, 40s},
                    Case{"SquidSpread", good(Kind::squid, 40s), 0.5, 42'500ms},
                    Case{"SquidNeverUnderTenSeconds", good(Kind::squid, 1s), 0, 10s},
                    Case{"SquidExpiredAlready", good(Kind::squid, -500s), 0, 10s},
                    Case{"SquidNeverOverAnHour", good(Kind::squid, 7200s), 0.9, 3600s},
                    Case{"SquidAbsurdExpires", good(Kind::squid, seconds::max()), 0, 3600s},
                    Case{"SquidAbsurdPast", good(Kind::squid, seconds::min()), 0, 10s},
                    Case{"SquidWithoutExpires", good(Kind::squid), 0, 300s},
                    Case{"SquidBuilding", {Kind::squid, Polled::building, 0, {}}, 0.9, 10s},
                    Case{"OtherFormAtOnce", {Kind::unknown, Polled::other_form, 0, {}}, 0.5, 0ms},
                    Case{"ResyncAtOnce", {Kind::hearsay, Polled::resync, 0, {}}, 0.5, 0ms},
                    Case{"FirstFailure", failed(Kind::hearsay, 1), 0, 1s},
                    Case{"ThirdFailure", failed(Kind::hearsay, 3), 0, 4s},
                    Case{"FailuresCapped", failed(Kind::unknown, 6), 0, 30s},
                    Case{"ManyFailures", failed(Kind::hearsay, 4'000'000'000), 0, 30s},
                    Case{"FailureJitter", failed(Kind::hearsay, 1), 0.5, 950ms},
                    Case{"SquidFirstFailure", failed(Kind::squid, 1), 0, 5s},
                    Case{"SquidSecondFailure", failed(Kind::squid, 2), 0, 10s},
                    Case{"SquidFailuresCapped", failed(Kind::squid, 7), 0, 300s}),
    [](const auto& tested) { return tested.param.name; });

TEST(UsableFor, OutlastsTheLongestGapBetweenTwoGoodPolls) {
  EXPECT_EQ(usable_for(Kind::hearsay), 60s);
  EXPECT_EQ(usable_for(Kind::unknown), 60s);
  EXPECT_EQ(usable_for(Kind::squid), 2h);
}

}  // namespace
}  // namespace peers
