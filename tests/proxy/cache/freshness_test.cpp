#include "proxy/cache/freshness.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

using Basis = Freshness::Basis;

struct LifetimeCase {
  const char* name;  // with the clause of RFC 9111
  std::string lines;
  Basis basis;
  seconds lifetime;
  unsigned status = 200;
};

const std::string kDate = "Date: Mon, 01 Jan 2024 00:00:00 GMT\r\n";
const std::string kExpiresIn60 = "Expires: Mon, 01 Jan 2024 00:01:00 GMT\r\n";
const std::string kModified100sAgo = "Last-Modified: Sun, 31 Dec 2023 23:58:20 GMT\r\n";

class Lifetime : public ::testing::TestWithParam<LifetimeCase> {};

TEST_P(Lifetime, IsAsTheClauseSays) {
  const Response response(GetParam().lines, GetParam().status);
  const Freshness freshness =
      freshness_of(response.head, http::cache_control(response.head.fields), kStart);
  EXPECT_EQ(freshness.basis, GetParam().basis);
  EXPECT_EQ(freshness.lifetime, GetParam().lifetime);
}

INSTANTIATE_TEST_SUITE_P(
    Clauses, Lifetime,
    ::testing::Values(
        LifetimeCase{"s4_2_1_SMaxageFirst",
                     "Cache-Control: max-age=1, s-maxage=2\r\n" + kExpiresIn60, Basis::s_maxage,
                     2s},
        LifetimeCase{"s4_2_1_MaxAgeOverExpires", "Cache-Control: max-age=1\r\n" + kExpiresIn60,
                     Basis::max_age, 1s},
        LifetimeCase{"s5_2_InvalidMaxAgeIsStale", "Cache-Control: max-age=1.5\r\n" + kExpiresIn60,
                     Basis::max_age, 0s},
        LifetimeCase{"s5_3_ExpiresMinusDate",
                     "Date: Sun, 31 Dec 2023 23:59:00 GMT\r\n" + kExpiresIn60, Basis::expires,
                     120s},
        LifetimeCase{"s4_2_3_NoDateIsReceivedNow", kExpiresIn60, Basis::expires, 60s},
        LifetimeCase{"s5_3_ExpiresZeroIsPast", kDate + "Expires: 0\r\n" + kModified100sAgo,
                     Basis::expires, 0s},
        LifetimeCase{"s5_3_ExpiresBeforeDate", kDate + "Expires: Sun, 31 Dec 2023 23:59:00 GMT\r\n",
                     Basis::expires, 0s},
        LifetimeCase{"s5_3_TwoExpiresThatDiffer",
                     kDate + kExpiresIn60 + "Expires: Mon, 01 Jan 2024 00:02:00 GMT\r\n",
                     Basis::expires, 0s},
        LifetimeCase{"s5_3_TwoExpiresThatAgree", kDate + kExpiresIn60 + kExpiresIn60,
                     Basis::expires, 60s},
        LifetimeCase{"s1_2_2_FarExpiresIsCapped", "Expires: Fri, 31 Dec 9999 23:59:59 GMT\r\n",
                     Basis::expires, http::kForever},
        LifetimeCase{"s4_2_2_TwoLastModifiedThatDiffer",
                     kDate + kModified100sAgo + "Last-Modified: Sun, 31 Dec 2023 00:00:00 GMT\r\n",
                     Basis::heuristic, 0s},
        LifetimeCase{"s4_2_2_TheOlderOfTwoDates",
                     kDate + "Date: Sun, 31 Dec 2023 23:59:20 GMT\r\n" + kModified100sAgo,
                     Basis::heuristic, 6s},
        LifetimeCase{"s4_2_2_TenPercentOfAge", kDate + kModified100sAgo, Basis::heuristic, 10s},
        LifetimeCase{"s4_2_2_AtMostADay",
                     kDate + "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n", Basis::heuristic,
                     86400s},
        LifetimeCase{"s4_2_2_ModifiedInTheFuture",
                     kDate + "Last-Modified: Tue, 02 Jan 2024 00:00:00 GMT\r\n", Basis::heuristic,
                     0s},
        LifetimeCase{"s4_2_2_ClockAheadIsNoAge",
                     "Date: Sat, 06 Jan 2024 00:00:00 GMT\r\n" + kModified100sAgo, Basis::heuristic,
                     10s},
        LifetimeCase{"s4_2_1_ClockAheadLeavesLessOfExpires",
                     "Date: Mon, 01 Jan 2024 00:00:50 GMT\r\n" + kExpiresIn60, Basis::expires, 10s},
        LifetimeCase{"s4_2_ExpiresInAnyCase", kDate + "Expires: mon, 01 JAN 2024 00:01:00 gmt\r\n",
                     Basis::expires, 60s},
        LifetimeCase{"s5_3_ExpiresInRfc850", kDate + "Expires: Monday, 01-Jan-24 00:01:00 GMT\r\n",
                     Basis::expires, 60s},
        LifetimeCase{"s5_3_ExpiresInAsctime", kDate + "Expires: Mon Jan  1 00:01:00 2024\r\n",
                     Basis::expires, 60s},
        LifetimeCase{"s5_3_ExpiresOnAnotherWeekday",
                     kDate + "Expires: Fri, 01 Jan 2024 00:01:00 GMT\r\n", Basis::expires, 60s},
        LifetimeCase{"s5_3_ExpiresOfTwoDigits", kDate + "Expires: Mon, 01 Jan 34 00:01:00 GMT\r\n",
                     Basis::expires, 0s},
        LifetimeCase{"s4_2_ExpiresInAnotherZone",
                     kDate + "Expires: Wed, 01 Jan 2034 00:01:00 EST\r\n", Basis::expires, 0s},
        LifetimeCase{"s5_3_ExpiresInALeapSecond",
                     kDate + "Expires: Mon, 01 Jan 2024 00:00:60 GMT\r\n", Basis::expires, 59s},
        LifetimeCase{"s5_2_QuotedMaxAgeOfAnExtension",
                     "Cache-Control: x=\"max-age=99, y\", max-age=1\r\n", Basis::max_age, 1s},
        LifetimeCase{"s4_2_1_TwoMaxAges",
                     "Cache-Control: max-age=9\r\nCache-Control: max-age=1\r\n", Basis::max_age,
                     1s},
        LifetimeCase{"s5_2_SingleQuotedSMaxage", "Cache-Control: max-age=9, s-maxage='9'\r\n",
                     Basis::s_maxage, 0s},
        LifetimeCase{"s1_2_2_LargeMaxAge", "Cache-Control: max-age=99999999999\r\n", Basis::max_age,
                     http::kForever},
        LifetimeCase{"s4_2_2_NothingToGuessFrom", kDate, Basis::heuristic, 0s},
        LifetimeCase{"s4_2_2_StatusNotCacheable", kDate + kModified100sAgo, Basis::none, 0s, 302},
        LifetimeCase{"s3_PublicAllowsTheHeuristic",
                     kDate + "Cache-Control: public\r\n" + kModified100sAgo, Basis::heuristic, 10s,
                     302},
        LifetimeCase{"s4_2_2_PublicOfAnUnknownStatus",
                     kDate + "Cache-Control: public\r\n" + kModified100sAgo, Basis::heuristic, 10s,
                     299},
        LifetimeCase{"s4_2_2_NotFound", kDate + kModified100sAgo, Basis::heuristic, 10s, 404}),
    [](const auto& tested) { return tested.param.name; });

TEST(TargetedFreshness, ExpiresIsVoidUnderTargetedControl) {  // RFC 9213 2.2
  http::CacheControl control;
  control.targeted = true;
  const Response response(kDate + kExpiresIn60 + kModified100sAgo);
  EXPECT_EQ(freshness_of(response.head, control, kStart).basis, Basis::heuristic);
}

TEST(HeuristicallyCacheable, AreTheStatusesOfRfc9110Section151) {
  std::string statuses;
  for (unsigned status = 100; status < 1000; ++status)
    if (heuristically_cacheable(status)) statuses += std::to_string(status) + ' ';
  EXPECT_EQ(statuses, "200 203 204 206 300 301 308 404 405 410 414 501 ");
}

TEST(Understood, AreFinalStatusesThatAreDefined) {
  for (unsigned status : {200u, 204u, 302u, 304u, 404u, 429u, 500u, 504u})
    EXPECT_TRUE(understood(status)) << status;
  for (unsigned status : {100u, 103u, 199u, 299u, 306u, 399u, 418u, 499u, 599u, 999u})
    EXPECT_FALSE(understood(status)) << status;
}

struct AgeCase {
  const char* name;
  std::string lines;
  std::chrono::milliseconds delay;
  std::chrono::milliseconds age;
};

// RFC 9110 15.1, with RFC 9111 4.2.2.
TEST(HeuristicallyCacheable, HaveALifetimeOfATenthOfTheirAge) {
  for (unsigned status : {200u, 203u, 204u, 206u, 300u, 301u, 308u, 404u, 405u, 410u, 414u, 501u}) {
    const Response response(kDate + kModified100sAgo, status);
    const Freshness freshness = freshness_of(response.head, {}, kStart);
    EXPECT_EQ(freshness.basis, Basis::heuristic) << status;
    EXPECT_EQ(freshness.lifetime, 10s) << status;
  }
}

class InitialAge : public ::testing::TestWithParam<AgeCase> {};

TEST_P(InitialAge, IsAsTheClauseSays) {
  const Response response(GetParam().lines);
  const Times times{kStart - GetParam().delay, kStart};
  EXPECT_EQ(initial_age(response.head.fields, times), GetParam().age);
}

const std::string kDate60sAgo = "Date: Sun, 31 Dec 2023 23:59:00 GMT\r\n";

INSTANTIATE_TEST_SUITE_P(
    Clauses, InitialAge,
    ::testing::Values(
        AgeCase{"s4_2_3_New", kDate, 0ms, 0ms}, AgeCase{"s4_2_3_Apparent", kDate60sAgo, 0ms, 60s},
        AgeCase{"s4_2_3_LargerOfBoth", kDate60sAgo + "Age: 20\r\n", 0ms, 60s},
        AgeCase{"s4_2_3_DelayAddsToAge", kDate + "Age: 20\r\n", 1500ms, 21500ms},
        AgeCase{"s4_2_3_DelayWithoutAge", kDate, 300ms, 300ms},
        AgeCase{"s4_2_3_OriginClockAhead", "Date: Mon, 01 Jan 2024 01:00:00 GMT\r\n", 0ms, 0ms},
        AgeCase{"s4_2_3_OurClockSteppedBack", kDate, -300ms, 0ms},
        AgeCase{"s5_1_FirstOfAList", "Age: 7, 9\r\n", 0ms, 7s},
        AgeCase{"s5_1_FirstOfTwoLines", "Age: 7\r\nAge: 9\r\n", 0ms, 7s},
        AgeCase{"s5_1_Negative", "Age: -7\r\n", 0ms, 0ms},
        AgeCase{"s5_1_Decimal", "Age: 7.5\r\n", 0ms, 0ms},
        AgeCase{"s5_1_Quoted", "Age: \"7\"\r\n", 0ms, 0ms},
        AgeCase{"s5_1_Alphabetic", "Age: abc\r\n", 0ms, 0ms},
        AgeCase{"s5_1_FirstIsInvalid", "Age: abc, 7\r\n", 0ms, 0ms},
        AgeCase{"s5_1_WithAParameter", "Age: 7;a=b\r\n", 0ms, 0ms},
        AgeCase{"s1_2_2_PastTheLargest", "Age: 2147483649\r\n", 0ms, http::kForever},
        AgeCase{"s1_2_2_Overflow", "Age: 99999999999999999999\r\n", 0ms, http::kForever}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace proxy::cache
