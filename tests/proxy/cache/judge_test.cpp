#include "proxy/cache/judge.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

struct StoreCase {
  const char* name;
  Storability expected;
  std::string response;
  unsigned status = 200;
  std::string request = "";
  std::string method = "GET";
};

class MayStore : public ::testing::TestWithParam<StoreCase> {};

TEST_P(MayStore, SaysWhatTheClauseSays) {
  const StoreCase& tested = GetParam();
  const Request request(tested.request, tested.method);
  const Response response(tested.response, tested.status);
  EXPECT_EQ(may_store(request.facts, response.head, kAtOnce), tested.expected)
      << text(may_store(request.facts, response.head, kAtOnce));
}

const std::string kFresh = "Cache-Control: max-age=100\r\n";
const std::string kTag = "ETag: \"e\"\r\n";

INSTANTIATE_TEST_SUITE_P(
    Clauses, MayStore,
    ::testing::Values(
        StoreCase{"s3_Explicit", Storability::yes, kFresh},
        StoreCase{"s3_HeadIsNot", Storability::method, kFresh, 200, "", "HEAD"},
        StoreCase{"s3_PostIsNot", Storability::method, kFresh, 200, "", "POST"},
        StoreCase{"s3_Interim", Storability::status, kFresh, 103},
        StoreCase{"s3_UnknownStatusExplicit", Storability::yes, kFresh, 299},
        StoreCase{"s3_UnknownStatusGuessed", Storability::status, kTag, 299},
        StoreCase{"s15_InvalidStatus", Storability::status, kFresh, 600},
        StoreCase{"rfc6585_s3_PreconditionRequired", Storability::status, kFresh, 428},
        StoreCase{"rfc6585_s4_TooManyRequests", Storability::status, kFresh + kTag, 429},
        StoreCase{"rfc6585_s5_FieldsTooLarge", Storability::status, kFresh, 431},
        StoreCase{"rfc6585_s6_LogInFirst", Storability::status, kFresh, 511},
        StoreCase{"s3_RedirectGuessed", Storability::status, kTag, 302},
        StoreCase{"s3_RedirectExplicit", Storability::yes, kFresh, 302},
        StoreCase{"s3_ServerErrorGuessed", Storability::status, kTag, 503},
        StoreCase{"s3_3_Partial", Storability::yes, kFresh + "Content-Range: bytes 0-1/5\r\n", 206},
        StoreCase{"s3_3_PartialOfWhat", Storability::partial, kFresh, 206},
        StoreCase{"s3_3_PartialContradictsItself", Storability::partial,
                  kFresh + "Content-Range: bytes 4-5/5\r\n", 206},
        StoreCase{"s3_3_PartialSaysTwoThings", Storability::partial,
                  kFresh + "Content-Range: bytes 0-1/5\r\nContent-Range: bytes 0-1/5\r\n", 206},
        StoreCase{"s3_3_SeveralPartsThatSayTheyAreOne", Storability::partial,
                  kFresh + "Content-Range: bytes 0-1/5\r\n"
                           "Content-Type: multipart/byteranges;boundary=x\r\n",
                  206},
        StoreCase{"s3_3_PartialPrivate", Storability::private_,
                  "Cache-Control: private, max-age=9\r\nContent-Range: bytes 0-1/5\r\n", 206},
        StoreCase{"s3_3_PartialWithAuthorization", Storability::authorization,
                  kFresh + "Content-Range: bytes 0-1/5\r\n", 206, "Authorization: x\r\n"},
        StoreCase{"s3_3_PartCalled200", Storability::partial,
                  kFresh + "Content-Range: bytes 0-1/5\r\n", 200, "Range: bytes=0-1\r\n"},
        StoreCase{"s14_4_ErrorWithContentRange", Storability::partial,
                  kFresh + "Content-Range: bytes 0-3/10\r\n", 404, "Range: bytes=0-3\r\n"},
        StoreCase{"s3_3_WholeWithContentRangeOfARange", Storability::partial,
                  kFresh + "Content-Range: bytes 0-4/5\r\n", 200, "Range: bytes=0-\r\n"},
        StoreCase{"s3_3_PartCalled200ThoughAllIsAskedFor", Storability::partial,
                  kFresh + "Content-Range: bytes 0-1/5\r\n"},
        StoreCase{"s3_3_WholeWithContentRange", Storability::yes,
                  kFresh + "Content-Range: bytes 0-4/5\r\n"},
        StoreCase{"s3_3_UnsatisfiedIsNoAnswerToOthers", Storability::partial, kFresh, 416},
        StoreCase{"s4_3_NotModified", Storability::partial, kFresh, 304},
        StoreCase{"s5_2_1_5_RequestNoStore", Storability::request_no_store, kFresh, 200,
                  "Cache-Control: no-store\r\n"},
        StoreCase{"s5_2_2_5_NoStore", Storability::no_store,
                  "Cache-Control: no-store, max-age=9\r\n"},
        StoreCase{"s5_2_2_7_Private", Storability::private_,
                  "Cache-Control: private, max-age=9\r\n"},
        StoreCase{"s5_2_2_7_PrivateFieldIsLeftOut", Storability::yes,
                  "Cache-Control: private=\"x\", max-age=9\r\n"},
        StoreCase{"s5_2_2_7_PrivateThoughNoStore", Storability::private_,
                  "Cache-Control: no-store, private\r\n"},
        StoreCase{"s5_2_2_7_PrivateFieldOfMeaning", Storability::private_,
                  "Cache-Control: private=\"x, content-encoding\", max-age=9\r\n"},
        StoreCase{"s5_2_2_4_NoCacheFieldIsLeftOut", Storability::yes,
                  "Cache-Control: no-cache=\"x\", max-age=9\r\n"},
        StoreCase{"s5_2_2_3_MustUnderstandKnown", Storability::yes,
                  "Cache-Control: must-understand, max-age=9\r\n", 404},
        StoreCase{"s5_2_2_3_MustUnderstandUnknown", Storability::status,
                  "Cache-Control: must-understand, max-age=9\r\n", 599},
        StoreCase{"s5_2_2_3_LiftsNoStore", Storability::yes,
                  "Cache-Control: must-understand, no-store, max-age=9\r\n"},
        StoreCase{"s5_2_2_3_LiftsNoStoreNotForUnknown", Storability::status,
                  "Cache-Control: must-understand, no-store, max-age=9\r\n", 299},
        StoreCase{"s5_2_2_3_LiftsNothingThatIsBroken", Storability::no_store,
                  "Cache-Control: must-understand, max-age=9, x=\"\r\n"},
        StoreCase{"s5_2_2_9_PublicOfUnknownStatus", Storability::yes,
                  "Cache-Control: public\r\n" + kTag, 299},
        StoreCase{"s5_2_2_9_PublicOfKnownStatus", Storability::yes,
                  "Cache-Control: public\r\n" + kTag, 302},
        StoreCase{"s3_5_Authorization", Storability::authorization, kFresh, 200,
                  "Authorization: Basic x\r\n"},
        StoreCase{"s3_5_AuthorizationPublic", Storability::yes,
                  "Cache-Control: public, max-age=9\r\n", 200, "Authorization: Basic x\r\n"},
        StoreCase{"s3_5_AuthorizationSMaxage", Storability::yes, "Cache-Control: s-maxage=9\r\n",
                  200, "Authorization: Basic x\r\n"},
        StoreCase{"s3_5_AuthorizationMustRevalidate", Storability::yes,
                  "Cache-Control: must-revalidate, max-age=9\r\n", 200,
                  "Authorization: Basic x\r\n"},
        StoreCase{"s4_1_VaryByLittle", Storability::yes, kFresh + "Vary: a\r\n", 200,
                  "A: " + std::string(4096, 'a') + "\r\n"},
        StoreCase{"s4_1_VaryByMuch", Storability::vary_too_long, kFresh + "Vary: a\r\n", 200,
                  "A: " + std::string(4097, 'a') + "\r\n"},
        StoreCase{"s4_1_VaryStar", Storability::vary_star, kFresh + "Vary: a, *\r\n"},
        StoreCase{"s4_1_Vary", Storability::yes, kFresh + "Vary: a\r\n"},
        StoreCase{"s7_3_SetCookieGuessed", Storability::set_cookie, kTag + "Set-Cookie: a=b\r\n"},
        StoreCase{"s7_3_SetCookieExplicit", Storability::set_cookie,
                  kFresh + "Set-Cookie: a=b\r\n"},
        StoreCase{"s7_3_SetCookiePublic", Storability::yes,
                  "Cache-Control: public, max-age=9\r\nSet-Cookie: a=b\r\n"},
        StoreCase{"s7_3_SetCookieSMaxage", Storability::yes,
                  "Cache-Control: s-maxage=9\r\nSet-Cookie: a=b\r\n"},
        StoreCase{"s7_3_SetCookieNamed", Storability::yes,
                  "Cache-Control: max-age=9, no-cache=\"set-cookie\"\r\nSet-Cookie: a=b\r\n"},
        StoreCase{"s3_NothingToReuseItBy", Storability::no_lifetime, ""},
        StoreCase{"s4_2_1_MaxAgeOf0", Storability::max_age, "Cache-Control: max-age=0\r\n"},
        StoreCase{"s4_2_1_SMaxageOf0", Storability::max_age,
                  "Cache-Control: s-maxage=0, max-age=9\r\n"},
        StoreCase{"s4_2_1_MaxAgeOf0WithValidator", Storability::yes,
                  "Cache-Control: max-age=0\r\n" + kTag},
        StoreCase{"s5_3_ExpiredOnArrival", Storability::expired,
                  "Expires: Thu, 01 Jan 1970 00:00:00 GMT\r\n"},
        StoreCase{"s5_3_ExpiresThatIsNoDate", Storability::expired, "Expires: 0\r\n"},
        StoreCase{"s4_3_ValidatorAlone", Storability::yes, kTag},
        StoreCase{"s4_2_StaleOnArrival", Storability::expired, kFresh + "Age: 100\r\n"},
        StoreCase{"rfc5861_s3_StaleOnArrival", Storability::yes,
                  "Cache-Control: max-age=100, stale-while-revalidate=50\r\nAge: 149\r\n"},
        StoreCase{"rfc5861_s3_StaleOnArrivalForTooLong", Storability::expired,
                  "Cache-Control: max-age=100, stale-while-revalidate=50\r\nAge: 150\r\n"},
        StoreCase{"rfc5861_s3_StaleOnArrivalAndNeverServedSo", Storability::expired,
                  "Cache-Control: s-maxage=100, stale-while-revalidate=50\r\nAge: 101\r\n"},
        StoreCase{"rfc5861_s4_StaleOnArrival", Storability::yes,
                  "Cache-Control: max-age=100, stale-if-error=50\r\nAge: 149\r\n"},
        StoreCase{"s4_2_StaleOnArrivalWithValidator", Storability::yes,
                  kFresh + kTag + "Age: 100\r\n"},
        StoreCase{"s5_2_2_4_NoCache", Storability::no_cache,
                  "Cache-Control: no-cache, max-age=9\r\n"},
        StoreCase{"s5_2_2_4_NoCacheWithValidator", Storability::yes,
                  "Cache-Control: no-cache, max-age=9\r\n" + kTag}),
    [](const auto& tested) { return tested.param.name; });

using http::Forward;

enum class Held { nothing, other_variant, entry };

struct JudgeCase {
  const char* name;
  Verdict expected;
  std::string request = "";
  seconds later{0};
  std::string response = kFresh + kTag;
  Held held = Held::entry;
  std::string method = "GET";
  unsigned status = 200;
};

constexpr Verdict kHit{Action::serve, Forward::none};

class Judge : public ::testing::TestWithParam<JudgeCase> {};

TEST_P(Judge, DecidesAsTheClauseSays) {
  const JudgeCase& tested = GetParam();
  Budget budget(1 << 20);
  Stock stock;
  stock.lines = tested.response;
  stock.status = tested.status;
  Found found;
  if (tested.held == Held::entry) found.entry = entry_of(budget, stock);
  found.varies = tested.held == Held::other_variant;
  const Request request(tested.request, tested.method);
  const Verdict verdict = judge(request.facts, found, kStart + tested.later);
  EXPECT_EQ(verdict, tested.expected);
}

const std::string kNone;
const std::string kFirstTwo = "Range: bytes=0-1\r\n";
const std::string kOnlyIfCached = "Cache-Control: only-if-cached\r\n";

const std::string kWhileRevalidate =
    "Cache-Control: max-age=100, stale-while-revalidate=50\r\n" + kTag;
constexpr Verdict kRefresh{Action::refresh, Forward::stale};

INSTANTIATE_TEST_SUITE_P(
    Clauses, Judge,
    ::testing::Values(
        JudgeCase{"s4_Fresh", kHit}, JudgeCase{"s4_LastSecond", kHit, kNone, 99s},
        JudgeCase{"s4_2_Stale", {Action::revalidate, Forward::stale}, kNone, 100s},
        JudgeCase{"s4_2_StaleNoValidator", {Action::fetch, Forward::stale}, kNone, 100s, kFresh},
        JudgeCase{"s4_HeadFromGet", kHit, kNone, 0s, kFresh, Held::entry, "HEAD"},
        JudgeCase{"s4_HeadMiss",
                  {Action::pass, Forward::uri_miss},
                  kNone,
                  0s,
                  kNone,
                  Held::nothing,
                  "HEAD"},
        JudgeCase{"s4_HeadStale",
                  {Action::pass, Forward::stale},
                  kNone,
                  100s,
                  kFresh + kTag,
                  Held::entry,
                  "HEAD"},
        JudgeCase{
            "s4_Post", {Action::pass, Forward::method}, kNone, 0s, kFresh, Held::entry, "POST"},
        JudgeCase{"s4_Miss", {Action::fetch, Forward::uri_miss}, kNone, 0s, kNone, Held::nothing},
        JudgeCase{"s4_1_OtherVariant",
                  {Action::fetch, Forward::vary_miss},
                  kNone,
                  0s,
                  kNone,
                  Held::other_variant},
        JudgeCase{"s3_3_RangeMiss",
                  {Action::fetch, Forward::uri_miss, true},
                  kFirstTwo,
                  0s,
                  kNone,
                  Held::nothing},
        JudgeCase{"s3_3_RangeMissNoStore",
                  {Action::pass, Forward::uri_miss},
                  kFirstTwo + "Cache-Control: no-store\r\n",
                  0s,
                  kNone,
                  Held::nothing},
        JudgeCase{"s3_3_RangeHit", kHit, kFirstTwo},
        JudgeCase{"s3_3_RangeStale", {Action::revalidate, Forward::stale}, kFirstTwo, 100s},
        JudgeCase{"s3_3_RangeStaleNoValidator",
                  {Action::fetch, Forward::stale, true},
                  kFirstTwo,
                  100s,
                  kFresh},
        JudgeCase{
            "s4_3_2_IfMatchIsTheOrigins", {Action::pass, Forward::bypass}, "If-Match: \"e\"\r\n"},
        JudgeCase{"s4_3_2_IfNoneMatchIsOurs", kHit, "If-None-Match: \"e\"\r\n"},
        JudgeCase{"s5_2_1_1_MaxAge", kHit, "Cache-Control: max-age=10\r\n", 10s},
        JudgeCase{"s5_2_1_1_MaxAgePassed",
                  {Action::revalidate, Forward::request},
                  "Cache-Control: max-age=10\r\n",
                  11s},
        JudgeCase{"s5_2_1_2_MaxStale", kHit, "Cache-Control: max-stale=10\r\n", 110s},
        JudgeCase{"s5_2_1_2_MaxStalePassed",
                  {Action::revalidate, Forward::stale},
                  "Cache-Control: max-stale=10\r\n",
                  111s},
        JudgeCase{"s4_2_4_MaxStaleMustRevalidate",
                  {Action::fetch, Forward::stale},
                  "Cache-Control: max-stale\r\n",
                  100s,
                  "Cache-Control: max-age=100, must-revalidate\r\n"},
        JudgeCase{"s4_2_4_MaxStaleSMaxage",
                  {Action::fetch, Forward::stale},
                  "Cache-Control: max-stale\r\n",
                  100s,
                  "Cache-Control: s-maxage=100\r\n"},
        JudgeCase{"s5_2_1_3_MinFresh", kHit, "Cache-Control: min-fresh=10\r\n", 90s},
        JudgeCase{"s5_2_1_3_MinFreshPassed",
                  {Action::revalidate, Forward::request},
                  "Cache-Control: min-fresh=10\r\n",
                  91s},
        JudgeCase{"s5_2_1_4_NoCache",
                  {Action::revalidate, Forward::request},
                  "Cache-Control: no-cache\r\n"},
        JudgeCase{"s5_4_Pragma", {Action::revalidate, Forward::request}, "Pragma: no-cache\r\n"},
        JudgeCase{"s5_2_1_7_SetCookieNeverCrossesBetweenNeighbours",
                  {Action::refuse, Forward::none},
                  kOnlyIfCached,
                  0s,
                  kFresh + "Set-Cookie: a=b\r\n"},
        JudgeCase{"s5_2_1_7_SetCookieForOurOwnClients", kHit, kNone, 0s,
                  kFresh + "Set-Cookie: a=b\r\n"},
        JudgeCase{"s5_2_1_5_NoStoreMayHit", kHit, "Cache-Control: no-store\r\n"},
        JudgeCase{"s5_2_1_5_NoStoreStale",
                  {Action::pass, Forward::stale},
                  "Cache-Control: no-store\r\n",
                  100s},
        JudgeCase{"s5_2_2_4_ResponseNoCache",
                  {Action::revalidate, Forward::stale},
                  kNone,
                  0s,
                  "Cache-Control: max-age=100, no-cache\r\n" + kTag},
        JudgeCase{"rfc5861_s3_WhileRevalidate", kRefresh, kNone, 149s, kWhileRevalidate},
        JudgeCase{"rfc5861_s3_LastSecond", kRefresh, kNone, 150s, kWhileRevalidate},
        JudgeCase{"rfc5861_s3_Passed",
                  {Action::revalidate, Forward::stale},
                  kNone,
                  151s,
                  kWhileRevalidate},
        JudgeCase{"rfc5861_s3_Fresh", kHit, kNone, 99s, kWhileRevalidate},
        JudgeCase{"rfc5861_s3_NoValidator", kRefresh, kNone, 101s,
                  "Cache-Control: max-age=100, stale-while-revalidate=50\r\n"},
        JudgeCase{"rfc5861_s3_Head", kRefresh, kNone, 101s, kWhileRevalidate, Held::entry, "HEAD"},
        JudgeCase{"rfc5861_s3_Range", kRefresh, kFirstTwo, 101s, kWhileRevalidate},
        JudgeCase{"rfc5861_s3_MustRevalidate",
                  {Action::fetch, Forward::stale},
                  kNone,
                  101s,
                  "Cache-Control: max-age=100, stale-while-revalidate=50, must-revalidate\r\n"},
        JudgeCase{"rfc5861_s3_SMaxage",
                  {Action::fetch, Forward::stale},
                  kNone,
                  101s,
                  "Cache-Control: s-maxage=100, stale-while-revalidate=50\r\n"},
        JudgeCase{"s5_2_1_1_MaxAgeTakesNothingStale",
                  {Action::revalidate, Forward::stale},
                  "Cache-Control: max-age=200\r\n",
                  101s,
                  kWhileRevalidate},
        JudgeCase{"s5_2_1_4_NoCacheTakesNothingStale",
                  {Action::revalidate, Forward::stale},
                  "Cache-Control: no-cache\r\n",
                  101s,
                  kWhileRevalidate},
        JudgeCase{"s5_2_1_7_OnlyIfCachedWhileRevalidate",
                  {Action::refuse, Forward::stale},
                  kOnlyIfCached,
                  101s,
                  kWhileRevalidate},
        JudgeCase{"s5_2_1_7_OnlyIfCachedHit", kHit, kOnlyIfCached},
        JudgeCase{"s5_2_1_7_OnlyIfCachedMiss",
                  {Action::refuse, Forward::uri_miss},
                  kOnlyIfCached,
                  0s,
                  kNone,
                  Held::nothing},
        JudgeCase{
            "s5_2_1_7_OnlyIfCachedStale", {Action::refuse, Forward::stale}, kOnlyIfCached, 100s},
        JudgeCase{"s5_2_1_7_OnlyIfCachedPost",
                  {Action::refuse, Forward::method},
                  kOnlyIfCached,
                  0s,
                  kFresh,
                  Held::entry,
                  "POST"},
        JudgeCase{"s5_2_1_7_OnlyIfCachedIfMatch",
                  {Action::refuse, Forward::bypass},
                  kOnlyIfCached + "If-Match: \"e\"\r\n"},
        JudgeCase{"s5_2_1_7_OnlyIfCachedNot200", kHit, kOnlyIfCached, 0s, kFresh, Held::entry,
                  "GET", 404},
        JudgeCase{"s5_2_1_7_OnlyIfCachedNot200ForAProxy",
                  {Action::refuse, Forward::none},
                  kOnlyIfCached + "Via: 1.1 b\r\n",
                  0s,
                  kFresh,
                  Held::entry,
                  "GET",
                  404},
        JudgeCase{"s4_Not200", kHit, kNone, 0s, kFresh, Held::entry, "GET", 404}),
    [](const auto& tested) { return tested.param.name; });

TEST(TargetedStorability, IsThatOfTheTargetedField) {  // RFC 9213 2.2
  const std::string targets[] = {"Ours"};
  const Request request;
  const Request authorized("Authorization: Basic x\r\n");
  const auto verdict = [&](const Request& asked, const std::string& lines) {
    return may_store(asked.facts, Response(lines).head, kAtOnce, targets);
  };
  EXPECT_EQ(verdict(request, kFresh + "Ours: no-store\r\n"), Storability::no_store);
  EXPECT_EQ(verdict(request, "Cache-Control: no-store\r\nOurs: max-age=9\r\n"), Storability::yes);
  EXPECT_EQ(verdict(request, "Cache-Control: no-store\r\nOurs: max-age=x\r\n"),
            Storability::no_store);
  EXPECT_EQ(verdict(authorized, "Cache-Control: public\r\nOurs: max-age=9\r\n"),
            Storability::authorization);
  EXPECT_EQ(verdict(authorized, "Ours: s-maxage=9\r\n"), Storability::yes);
}

// The promise of the digest (what a claim means) and the verdict follow one rule.
TEST(Claimable, ExactlyWhilePlainOnlyIfCachedIsServed) {
  Budget budget(1 << 20);
  const Request asked(kOnlyIfCached + "Via: 1.1 b\r\n");
  for (const char* directives : {"max-age=10", "s-maxage=10", "max-age=10, must-revalidate",
                                 "max-age=10, no-cache", "max-age=0", "max-age=5, public"}) {
    Stock stock;
    stock.lines = std::string("Cache-Control: ") + directives + "\r\n" + kTag;
    for (stock.status = 200; stock.status < 206; ++stock.status) {
      const Found found{entry_of(budget, stock), false};
      for (auto later = 0ms; later < 12s; later += 500ms) {
        EXPECT_EQ(judge(asked.facts, found, kStart + later) == kHit,
                  kStart + later < found.entry->claimable_until())
            << directives << " " << later.count();
      }
    }
  }
}

}  // namespace
}  // namespace proxy::cache
