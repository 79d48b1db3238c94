#include "proxy/http/cache_control.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/proxy/http/fields_of.hpp"

namespace proxy::http {
namespace {

CacheControl of(std::string_view value) {
  Fields fields;
  fields.append("Cache-Control", value);
  return cache_control(fields);
}

TEST(CacheControl, MaxAgeIsDeltaSecondsOrStale) {  // RFC 9111 1.2.2, 4.2.1, 5.2
  const struct {
    const char* value;
    std::optional<seconds> max_age;
  } cases[] = {
      {"max-age=60", seconds(60)},
      {"MAX-AGE=60", seconds(60)},
      {"max-age=0060", seconds(60)},
      {"max-age=\"60\"", seconds(60)},
      {" ,, public , max-age=60,", seconds(60)},
      {"max-age=2147483648", kForever},
      {"max-age=99999999999999999999999", kForever},
      {"max-age", seconds(0)},
      {"max-age=", seconds(0)},
      {"max-age=-1", seconds(0)},
      {"max-age=+1", seconds(0)},
      {"max-age=1.5", seconds(0)},
      {"max-age=60s", seconds(0)},
      {"max-age='60'", seconds(0)},
      {"max-age =60", seconds(0)},
      {"max-age= 60", seconds(0)},
      {"max-age=60 junk", seconds(0)},
      {"max-age=\"60", seconds(0)},
      {"max-age=60, max-age=30", seconds(30)},
      {"max-age=30, max-age=60", seconds(30)},
      {"max-age=30, max-age=x", seconds(0)},
      {"xmax-age=60", std::nullopt},
      {"max-age-x=60", std::nullopt},
      {"ext=\"max-age=60\"", std::nullopt},
      {"ext=\"a, max-age=60, b\"", std::nullopt},
      {"ext=\"a\\\", max-age=60\"", std::nullopt},
      {"ext='a, max-age=60'", seconds(0)},  // single quotes quote nothing
  };
  for (const auto& c : cases) EXPECT_EQ(of(c.value).max_age, c.max_age) << c.value;
}

TEST(CacheControl, EveryDirectiveIsItsOwn) {  // RFC 9111 5.2, RFC 5861, RFC 8246
  const CacheControl c = of(
      "s-maxage=1, stale-while-revalidate=2, stale-if-error=3, min-fresh=4, max-stale=5, public, "
      "immutable, must-understand, no-store, must-revalidate, proxy-revalidate, no-transform, "
      "only-if-cached, private, no-cache");
  EXPECT_EQ(c.s_maxage, seconds(1));
  EXPECT_EQ(c.stale_while_revalidate, seconds(2));
  EXPECT_EQ(c.stale_if_error, seconds(3));
  EXPECT_EQ(c.min_fresh, seconds(4));
  EXPECT_EQ(c.max_stale, seconds(5));
  EXPECT_TRUE(c.public_ && c.immutable && c.must_understand && c.no_store && c.must_revalidate);
  EXPECT_TRUE(c.proxy_revalidate && c.no_transform && c.only_if_cached && c.private_ && c.no_cache);
  EXPECT_FALSE(c.max_age);
}

TEST(CacheControl, NothingIsSaidByNothing) {
  const CacheControl absent = cache_control({});
  EXPECT_FALSE(absent.present);
  const CacheControl empty = of("");
  EXPECT_TRUE(empty.present);
  EXPECT_FALSE(empty.no_store || empty.no_cache || empty.private_ || empty.public_ ||
               empty.max_age);
}

TEST(CacheControl, AllLinesCountAndTheMostRestrictiveWins) {
  const Fields fields = fields_of({"Cache-Control: max-age=9, min-fresh=1, max-stale", "Age: 1",
                                   "cache-control: max-age=3, min-fresh=7, max-stale=2, no-store"});
  const CacheControl c = cache_control(fields);
  EXPECT_EQ(c.max_age, seconds(3));
  EXPECT_EQ(c.min_fresh, seconds(7));
  EXPECT_EQ(c.max_stale, seconds(2));
  EXPECT_TRUE(c.no_store);
}

TEST(CacheControl, WhatForbidsCountsWithJunkAndWhatAllowsDoesNot) {
  EXPECT_TRUE(of("no-store=x").no_store);
  EXPECT_TRUE(of("no-store junk").no_store);
  EXPECT_TRUE(of("must-revalidate=\"\"").must_revalidate);
  EXPECT_FALSE(of("public=x").public_);
  EXPECT_FALSE(of("immutable junk").immutable);
  EXPECT_FALSE(of("must-understand=1").must_understand);
  EXPECT_FALSE(of("no-stored").no_store);
}

TEST(CacheControl, ArgumentsOfRequestDirectives) {  // RFC 9111 5.2.1.2, 5.2.1.3
  EXPECT_EQ(of("max-stale").max_stale, kForever);
  EXPECT_EQ(of("max-stale=").max_stale, seconds(0));
  EXPECT_EQ(of("max-stale=x").max_stale, seconds(0));
  EXPECT_EQ(of("min-fresh=x").min_fresh, kForever);
}

TEST(CacheControl, QualifiedFormsNameFieldsOrMeanTheWhole) {  // RFC 9111 5.2.2.4, 5.2.2.7
  const CacheControl c = of("no-cache=\"Set-Cookie, X-A\", private=X-B");
  EXPECT_FALSE(c.no_cache);
  EXPECT_EQ(c.no_cache_fields, (CacheControl::Names{"Set-Cookie", "X-A"}));
  EXPECT_FALSE(c.private_);
  EXPECT_EQ(c.private_fields, (CacheControl::Names{"X-B"}));
  for (const char* whole : {"no-cache", "no-cache=", "no-cache=\"\"", "no-cache=\" , \"",
                            "no-cache=\"a b\"", "no-cache=\"a\" b", "no-cache x", "no-cache=\"a"})
    EXPECT_TRUE(of(whole).no_cache) << whole;
  EXPECT_TRUE(of("private=\"a\", private").private_);
  for (const char* meaningful : {"Vary", "ETag, a", "content-encoding", "Date"})
    EXPECT_TRUE(of("no-cache=\"" + std::string(meaningful) + "\"").no_cache) << meaningful;
}

TEST(CacheControl, AQuoteThatNeverClosesMeansNoStore) {
  EXPECT_TRUE(of("ext=\"a, max-age=60").no_store);
  EXPECT_TRUE(of("max-age=60, ext=\"a\\\"").no_store);
  EXPECT_FALSE(of("max-age=60, ext=\"a\\\\\"").no_store);
}

const std::string kTargets[] = {"Ours-Cache-Control", "CDN-Cache-Control"};

TEST(TargetedControl, TheFirstTargetThatIsValidReplacesCacheControl) {  // RFC 9213 2.2
  const struct {
    const char* name;
    std::initializer_list<std::string_view> lines;
    std::optional<seconds> max_age;
    bool targeted;
  } cases[] = {
      {"none", {"Cache-Control: max-age=1"}, seconds(1), false},
      {"nothing", {}, std::nullopt, false},
      {"first",
       {"CDN-Cache-Control: max-age=2", "Ours-Cache-Control: max-age=3"},
       seconds(3),
       true},
      {"second", {"Cache-Control: max-age=1", "cdn-cache-control: max-age=2"}, seconds(2), true},
      {"first is malformed",
       {"Ours-Cache-Control: max-age=", "CDN-Cache-Control: max-age=2"},
       seconds(2),
       true},
      {"all are malformed",
       {"Ours-Cache-Control: max-age=\"3\"", "CDN-Cache-Control: ,", "Cache-Control: max-age=1"},
       seconds(1),
       false},
      {"first is empty",
       {"Ours-Cache-Control: ", "CDN-Cache-Control: max-age=2"},
       seconds(2),
       true},
      {"of others",
       {"Theirs-Cache-Control: max-age=4", "Cache-Control: max-age=1"},
       seconds(1),
       false},
      {"of nothing we know",
       {"CDN-Cache-Control: x", "Cache-Control: max-age=1"},
       std::nullopt,
       true},
      {"two lines", {"CDN-Cache-Control: x", "CDN-Cache-Control: max-age=2"}, seconds(2), true},
      {"one line of two malformed",
       {"CDN-Cache-Control: max-age=2", "CDN-Cache-Control: X", "Cache-Control: max-age=1"},
       seconds(1),
       false},
      {"the last of two", {"CDN-Cache-Control: max-age=2, max-age=9"}, seconds(9), true},
      {"parameters", {"CDN-Cache-Control: max-age=2;x=9;max-age=1"}, seconds(2), true},
      {"large", {"CDN-Cache-Control: max-age=99999999999"}, kForever, true},
      {"unknown of any type", {"CDN-Cache-Control: a=(b c), d=1.5, max-age=2"}, seconds(2), true},
  };
  for (const auto& c : cases) {
    const CacheControl control = response_cache_control(fields_of(c.lines), kTargets);
    EXPECT_EQ(control.max_age, c.max_age) << c.name;
    EXPECT_EQ(control.targeted, c.targeted) << c.name;
  }
}

CacheControl targeted(std::string_view value) {
  Fields fields;
  fields.append("CDN-Cache-Control", value);
  return response_cache_control(fields, kTargets);
}

TEST(TargetedControl, AWrongTypeVoidsTheField) {  // RFC 9213 2.1
  for (const char* wrong :
       {"max-age", "max-age=-1", "max-age=1.0", "max-age=x", "max-age=(1)", "s-maxage=?1",
        "no-store=1", "public=\"\"", "must-understand=x", "no-cache=1", "private=(a b)",
        "max-age =1", "MAX-AGE=1", "max-age=1, no-store=x", "max-age=1000000000000000"})
    EXPECT_FALSE(targeted(wrong).targeted) << wrong;
}

TEST(TargetedControl, HasTheDirectivesOfCacheControl) {
  const CacheControl c = targeted(
      "no-store, no-cache=\"a, b\", private=c, must-revalidate=?1, "
      "public=?0, s-maxage=0, stale-if-error=3");
  EXPECT_TRUE(c.no_store && c.must_revalidate && !c.public_ && !c.no_cache && !c.private_);
  EXPECT_EQ(c.no_cache_fields, (CacheControl::Names{"a", "b"}));
  EXPECT_EQ(c.private_fields, (CacheControl::Names{"c"}));
  EXPECT_EQ(c.s_maxage, seconds(0));
  EXPECT_EQ(c.stale_if_error, seconds(3));
}

TEST(TargetedControl, IsBounded) {
  std::string many = "a";
  for (int i = 0; i < 100; ++i) many += ", a" + std::to_string(i);
  EXPECT_FALSE(targeted(many).targeted);
}

TEST(RequestCacheControl, PragmaCountsOnlyAlone) {  // RFC 9111 5.4
  EXPECT_TRUE(request_cache_control(fields_of({"Pragma: x, No-Cache"})).no_cache);
  EXPECT_FALSE(
      request_cache_control(fields_of({"Pragma: no-cache", "Cache-Control: max-age=1"})).no_cache);
  EXPECT_FALSE(request_cache_control(fields_of({"Pragma: x"})).no_cache);
  EXPECT_FALSE(cache_control(fields_of({"Pragma: no-cache"})).no_cache);
}

TEST(RequestCacheControl, NoCacheIsAboutTheWholeWhateverItsArgument) {  // RFC 9111 5.2.1.4
  EXPECT_TRUE(request_cache_control(fields_of({"Cache-Control: no-cache=\"x\""})).no_cache);
  EXPECT_TRUE(request_cache_control(fields_of({"Cache-Control: No-Cache=x"})).no_cache);
  EXPECT_FALSE(request_cache_control(fields_of({"Cache-Control: x=\"no-cache\""})).no_cache);
}

TEST(DeltaSeconds, AreDigitsAlone) {
  EXPECT_EQ(parse_delta_seconds("0"), seconds(0));
  EXPECT_EQ(parse_delta_seconds("99999999999999999999"), kForever);
  for (const char* wrong : {"", "-1", "1.0", "\"1\"", " 1", "1a"})
    EXPECT_EQ(parse_delta_seconds(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace proxy::http
