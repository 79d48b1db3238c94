// Policy for stale responses: which may stand in for an origin, and what is served offline.
#include <gtest/gtest.h>

#include "proxy/cache/judge.hpp"
#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

using http::Forward;

const std::string kForHundredSeconds = "Cache-Control: max-age=100\r\n";
const std::string kTwoBytes = "Range: bytes=0-1\r\n";
constexpr Verdict kServed{Action::serve, Forward::none};

struct StandInCase {
  const char* name;
  bool expected;
  std::string directives;  // besides max-age=100
  seconds later;
  seconds setting{0};
  std::string request = "";
};

class MayStandIn : public ::testing::TestWithParam<StandInCase> {};

TEST_P(MayStandIn, AsTheClauseSays) {
  const StandInCase& tested = GetParam();
  Budget budget(1 << 20);
  Stock stock;
  stock.lines = "Cache-Control: max-age=100" + tested.directives + "\r\n";
  const auto entry = entry_of(budget, stock);
  const Request request(tested.request);
  EXPECT_EQ(may_stand_in(request.facts, *entry, kStart + tested.later, tested.setting),
            tested.expected);
}

const std::string kIfError = ", stale-if-error=50";
const std::string kAsks = "Cache-Control: stale-if-error=20\r\n";

INSTANTIATE_TEST_SUITE_P(
    Clauses, MayStandIn,
    ::testing::Values(
        StandInCase{"rfc5861_s4_Response", true, kIfError, 150s},
        StandInCase{"rfc5861_s4_ResponsePassed", false, kIfError, 151s},
        StandInCase{"rfc5861_s4_Request", true, "", 120s, 0s, kAsks},
        StandInCase{"rfc5861_s4_RequestPassed", false, "", 121s, 0s, kAsks},
        StandInCase{"rfc5861_s4_TheLonger", true, kIfError, 150s, 0s, kAsks},
        StandInCase{"s4_2_4_NobodySaysSo", false, "", 110s},
        StandInCase{"s4_2_4_NobodySaysSoAtOnce", false, "", 100s},
        StandInCase{"s4_2_4_FreshIsNotStale", false, kIfError, 99s, 3600s},
        StandInCase{"s4_2_4_Disconnected", true, "", 3700s, 3600s},
        StandInCase{"s4_2_4_DisconnectedTooLong", false, "", 3701s, 3600s},
        StandInCase{"s4_2_4_DisconnectedShortSetting", true, kIfError, 150s, 10s},
        StandInCase{"s5_2_2_2_MustRevalidate", false, kIfError + ", must-revalidate", 110s, 3600s},
        StandInCase{"s5_2_2_8_ProxyRevalidate", false, kIfError + ", proxy-revalidate", 110s,
                    3600s},
        StandInCase{"s5_2_2_10_SMaxage", false, kIfError + ", s-maxage=100", 110s, 3600s},
        StandInCase{"s5_2_2_4_NoCache", false, kIfError + ", no-cache", 110s, 3600s},
        StandInCase{"s5_2_1_4_RequestNoCache", false, kIfError, 110s, 3600s,
                    "Cache-Control: no-cache\r\n"},
        StandInCase{"s5_2_1_1_RequestMaxAge", false, kIfError, 110s, 3600s,
                    "Cache-Control: max-age=200\r\n"},
        StandInCase{"s5_2_1_3_RequestMinFresh", false, kIfError, 110s, 3600s,
                    "Cache-Control: min-fresh=1\r\n"},
        StandInCase{"s5_2_1_2_RequestMaxAgeAndMaxStale", true, kIfError, 110s, 0s,
                    "Cache-Control: max-age=200, max-stale=1\r\n"},
        StandInCase{"rfc5861_s4_RequestMaxAgeAndItsOwnLeave", true, "", 110s, 0s,
                    "Cache-Control: max-age=200, stale-if-error=20\r\n"}),
    [](const auto& tested) { return tested.param.name; });

// RFC 5861 4; RFC 9110 15: an invalid status is one; RFC 6585 4: who is asked too often says so.
TEST(StandIn, IsForErrorsOfTheServerAndForTooManyRequests) {
  for (unsigned status = 200; status < 1000; ++status) {
    const bool named =
        status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
    const bool error = named || status >= 600;
    EXPECT_EQ(is_error_to_stand_in_for(status), error) << status;
  }
}

struct OfflineCase {
  const char* name;
  Verdict expected;
  std::string response;
  seconds later{0};
  std::string request = "";
  std::string method = "GET";
};

class Offline : public ::testing::TestWithParam<OfflineCase> {};

TEST_P(Offline, ServesWhatDoesNotForbidIt) {
  const OfflineCase& tested = GetParam();
  Budget budget(1 << 20);
  Stock stock;
  stock.lines = tested.response;
  Found found;
  if (!tested.response.empty()) found.entry = entry_of(budget, stock);
  Request request(tested.request, tested.method);
  request.facts.offline = true;
  EXPECT_EQ(judge(request.facts, found, kStart + tested.later), tested.expected);
}

constexpr Verdict kStaleHit{Action::serve, Forward::stale};
// Neighbours may have it.
constexpr Verdict kNotHeld{Action::fetch, Forward::uri_miss};
const std::string kStrict = "Cache-Control: max-age=100, must-revalidate\r\n";

INSTANTIATE_TEST_SUITE_P(
    Rfc9111Section424, Offline,
    ::testing::Values(
        OfflineCase{"Fresh", kServed, kForHundredSeconds},
        OfflineCase{"Stale", kStaleHit, kForHundredSeconds, 1000000s},
        OfflineCase{"Missing", kNotHeld, ""},
        OfflineCase{"MissingRange", {Action::fetch, Forward::uri_miss, true}, "", 0s, kTwoBytes},
        OfflineCase{"MissingHead", {Action::refuse, Forward::uri_miss}, "", 0s, "", "HEAD"},
        OfflineCase{"MissingForANeighbour",
                    {Action::refuse, Forward::uri_miss},
                    "",
                    0s,
                    "Cache-Control: only-if-cached\r\n"},
        OfflineCase{"Reload",
                    {Action::serve, Forward::request},
                    kForHundredSeconds,
                    0s,
                    "Cache-Control: no-cache\r\n"},
        OfflineCase{"Range", kStaleHit, kForHundredSeconds, 200s, kTwoBytes},
        OfflineCase{"Head", kStaleHit, kForHundredSeconds, 200s, "", "HEAD"},
        OfflineCase{"Post", {Action::refuse, Forward::method}, kForHundredSeconds, 0s, "", "POST"},
        OfflineCase{"IfMatch",
                    {Action::refuse, Forward::bypass},
                    kForHundredSeconds,
                    0s,
                    "If-Match: *\r\n"},
        OfflineCase{"MustRevalidateFresh", kServed, kStrict, 99s},
        OfflineCase{"MustRevalidateStale", {Action::fetch, Forward::stale}, kStrict, 100s},
        OfflineCase{"SMaxageStale",
                    {Action::fetch, Forward::stale},
                    "Cache-Control: s-maxage=100\r\n",
                    100s},
        OfflineCase{"NoCache",
                    {Action::fetch, Forward::stale},
                    "Cache-Control: max-age=100, no-cache\r\n"}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace proxy::cache
