// What to do for a client that has a newer version of a file that grows than the store.
#include <gtest/gtest.h>

#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

using http::Forward;

const std::string kTag = "ETag: \"e\"\r\n";
const std::string kFresh = "Cache-Control: max-age=100\r\n" + kTag;
const std::string kBehindTheEnd = "Range: bytes=10-\r\n";
const std::string kOther = "If-None-Match: \"f\"\r\n";
constexpr Verdict kHit{Action::serve, Forward::none};
constexpr Verdict kAskedAgain{Action::revalidate, Forward::request};

struct AheadCase {
  const char* name;
  Verdict expected;
  std::string request;
  seconds later{0};
  std::string response = kFresh;
  unsigned status = 200;
  bool offline = false;
};

class JudgeAhead : public ::testing::TestWithParam<AheadCase> {};

TEST_P(JudgeAhead, ValidatesWhatIsBehindTheClient) {
  const auto& tested = GetParam();
  Budget budget(1 << 20);
  Stock stock;
  stock.lines = tested.response;
  stock.status = tested.status;
  stock.body = 10;
  const Found found{entry_of(budget, stock)};
  Request request(tested.request);
  request.facts.offline = tested.offline;
  EXPECT_EQ(judge(request.facts, found, kStart + tested.later), tested.expected);
}

INSTANTIATE_TEST_SUITE_P(
    Of, JudgeAhead,
    ::testing::Values(
        AheadCase{"ByItsTag", kAskedAgain, kBehindTheEnd + kOther},
        AheadCase{"ByItsTags", kAskedAgain, kBehindTheEnd + "If-None-Match: W/\"d\", \"f\"\r\n"},
        AheadCase{"ByIfRange", kAskedAgain, kBehindTheEnd + "If-Range: \"f\"\r\n"},
        AheadCase{"WithoutValidatorHere",
                  {Action::fetch, Forward::request, true},
                  kBehindTheEnd + kOther,
                  0s,
                  "Cache-Control: max-age=100\r\n"},
        AheadCase{"OfAStoredPart",
                  {Action::fetch, Forward::request, true},
                  kBehindTheEnd + kOther,
                  0s,
                  kFresh + "Content-Range: bytes 0-9/10\r\n",
                  206},
        AheadCase{"OfWhatMayBeServedStale",
                  {Action::revalidate, Forward::stale},
                  kBehindTheEnd + kOther,
                  120s,
                  "Cache-Control: max-age=100, stale-while-revalidate=50\r\n" + kTag},
        AheadCase{"OnlyIfCached",
                  {Action::refuse, Forward::request},
                  kBehindTheEnd + kOther + "Cache-Control: only-if-cached\r\n"},
        AheadCase{"Offline",
                  {Action::refuse, Forward::request},
                  kBehindTheEnd + kOther,
                  0s,
                  kFresh,
                  200,
                  true},
        AheadCase{"NotWithoutAVersion", kHit, kBehindTheEnd},
        AheadCase{"NotWithOurs", kHit, kBehindTheEnd + "If-None-Match: \"d\", W/\"e\"\r\n"},
        AheadCase{"NotWithAny", kHit, kBehindTheEnd + "If-None-Match: *\r\n"},
        AheadCase{"NotIfItContinuesOurs", kHit, kBehindTheEnd + "If-Range: \"e\"\r\n"},
        AheadCase{"NotBeforeTheEnd", kHit, "Range: bytes=9-\r\n" + kOther},
        AheadCase{"NotWithoutARange", kHit, kOther}),
    [](const auto& tested) { return tested.param.name; });

TEST(StandIn, IsNotBehindTheClient) {
  Budget budget(1 << 20);
  Stock stock;
  stock.lines = kFresh;
  stock.body = 10;
  const auto entry = entry_of(budget, stock);
  const auto stale = kStart + 200s;
  const Request ours(kBehindTheEnd), newer(kBehindTheEnd + kOther);
  EXPECT_TRUE(may_stand_in(ours.facts, *entry, stale, 1000s));
  EXPECT_FALSE(may_stand_in(newer.facts, *entry, stale, 1000s));
}

}  // namespace
}  // namespace proxy::cache
