#include "proxy/sources/neighbour.hpp"

#include <gtest/gtest.h>

namespace proxy::sources {
namespace {

using peers::FalseHit;

struct Answer {
  const char* name;
  std::string lines;
  FalseHit cause;
};
class CauseOf : public testing::TestWithParam<Answer> {};

TEST_P(CauseOf, IsWhatTheAnswerTells) {
  std::string text = "HTTP/1.1 504 Gateway Timeout\r\n" + GetParam().lines + "\r\n";
  EXPECT_EQ(cause_of(http::parse_response_head(text).value()), GetParam().cause);
}

std::string status(const std::string& value) {
  return "Cache-Status: " + value + "\r\n";
}
std::string lookup(const std::string& value) {
  return "X-Cache: MISS from squid-a.test\r\nX-Cache-Lookup: " + value + "\r\n";
}

INSTANTIATE_TEST_SUITE_P(
    Hearsay, CauseOf,
    testing::Values(
        Answer{"Absent", status("b; fwd=uri-miss"), FalseHit::absent},
        Answer{"Gone", status("b; fwd=uri-miss; detail=\"gone\""), FalseHit::gone},
        Answer{"GoneAndMore", status("b; fwd=uri-miss; detail=\"gone x/y\""), FalseHit::gone},
        Answer{"Unknown", status("b; detail=unknown"), FalseHit::unknown},
        Answer{"AnotherWord", status("b; fwd=uri-miss; detail=\"goner\""), FalseHit::absent},
        Answer{"Variant", status("b; fwd=vary-miss"), FalseHit::variant},
        Answer{"Stale", status("b; fwd=stale"), FalseHit::stale},
        Answer{"TooOldForTheRequest", status("b; fwd=request"), FalseHit::stale},
        Answer{"Refused", status("b; detail=\"refused\""), FalseHit::refused},
        Answer{"RefusedBecause", status("b; detail=\"refused/loop\""), FalseHit::refused},
        Answer{"OnlyTheNearestCounts", status("o; fwd=stale, b; fwd=uri-miss"), FalseHit::absent}),
    [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Squid6, CauseOf,
    testing::Values(
        Answer{"Absent", status("squid-a.test;detail=mismatch"), FalseHit::absent},
        Answer{"AbsentWithFwd", status("squid-a.test;fwd=miss;detail=mismatch"), FalseHit::absent},
        Answer{"Stale", status("squid-a.test;fwd=stale;detail=match"), FalseHit::stale},
        Answer{"Variant", status("squid-a.test;fwd=miss;detail=match"), FalseHit::variant},
        Answer{"TooOld", status("squid-a.test;fwd=request;detail=match"), FalseHit::stale},
        Answer{"NotLookedUp", status("squid-a.test;detail=no-cache"), FalseHit::refused}),
    [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Squid5, CauseOf,
    testing::Values(Answer{"Absent", lookup("MISS from squid-a.test:3128"), FalseHit::absent},
                    Answer{"Stale", lookup("HIT from squid-a.test:3128"), FalseHit::stale},
                    Answer{"NotLookedUp", lookup("NONE from squid-a.test:3128"), FalseHit::refused},
                    Answer{"TheNearest",
                           lookup("HIT from o:1") + lookup("MISS from squid-a.test:1"),
                           FalseHit::absent}),
    [](const auto& tested) { return tested.param.name; });

std::string page(const std::string& error) {
  return "X-Squid-Error: " + error + "\r\n";
}

INSTANTIATE_TEST_SUITE_P(
    SquidsErrorPage, CauseOf,
    testing::Values(
        Answer{"NotStored", page("ERR_ONLY_IF_CACHED_MISS 0") + lookup("MISS from a"),
               FalseHit::absent},
        Answer{"NotStoredAndNothingElse", page("ERR_ONLY_IF_CACHED_MISS 0"), FalseHit::untold},
        Answer{"Another", page("ERR_CONNECT_FAIL 111") + lookup("MISS from a"), FalseHit::refused},
        Answer{"AnotherOfSquid6", page("ERR_READ_TIMEOUT 0") + status("a;detail=mismatch"),
               FalseHit::refused}),
    [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Untold, CauseOf,
    testing::Values(Answer{"Nothing", "", FalseHit::untold},
                    Answer{"AName", status("b"), FalseHit::untold},
                    Answer{"AHit", status("b; hit; fwd=uri-miss"), FalseHit::untold},
                    Answer{"MissOfAnyKind", status("b; fwd=miss"), FalseHit::untold},
                    Answer{"AnotherReason", status("b; fwd=whim"), FalseHit::untold},
                    Answer{"NotAList", status("b; fwd=uri-miss,"), FalseHit::untold},
                    Answer{"Misspelt", lookup("MISSED from x"), FalseHit::untold},
                    Answer{"Empty", "X-Cache-Lookup: \r\nCache-Status: \r\n", FalseHit::untold}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace proxy::sources
