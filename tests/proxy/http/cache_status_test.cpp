#include "proxy/http/cache_status.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/http/fields_of.hpp"

namespace proxy::http {
namespace {

std::string written(const CacheStatus& status, std::string_view name = "cache-a") {
  std::string out;
  PieceWriter text(out);
  write_cache_status(text, name, status);
  text.flush();
  return out;
}

TEST(CacheStatus, WritesTheMembersOfRfc9211InOrder) {
  CacheStatus hit;
  hit.hit = true;
  hit.ttl = std::chrono::seconds(-3);
  EXPECT_EQ(written(hit), "cache-a; hit; ttl=-3");

  CacheStatus miss;
  miss.fwd = Forward::uri_miss;
  miss.fwd_status = 200;
  miss.ttl = std::chrono::seconds(60);
  miss.stored = miss.collapsed = true;
  miss.detail = "false-hit/b peer/c";
  EXPECT_EQ(written(miss),
            "cache-a; fwd=uri-miss; fwd-status=200; ttl=60; stored; collapsed; "
            "detail=\"false-hit/b peer/c\"");
  EXPECT_EQ(written({}), "cache-a");

  CacheStatus keyed;
  keyed.key = "http://a/?x=\"";
  keyed.detail = "d";
  EXPECT_EQ(written(keyed), "cache-a; key=\"http://a/?x=\\\"\"; detail=\"d\"");
}

TEST(CacheStatus, NameIsATokenOrAString) {  // RFC 8941 3.3.3, 3.3.4
  EXPECT_EQ(written({}, "*a/b:80"), "*a/b:80");
  EXPECT_EQ(written({}, "127.0.0.1-3128"), "\"127.0.0.1-3128\"");
  EXPECT_EQ(written({}, "a b"), "\"a b\"");
}

TEST(CacheStatus, DetailCannotLeaveItsString) {
  CacheStatus status;
  status.detail = "a\"b\\c\r\nd\xc3\xbc";
  EXPECT_EQ(written(status), "cache-a; detail=\"a\\\"b\\\\cd\"");
}

TEST(CacheStatus, ReasonsHaveTheirTokens) {  // RFC 9211 2.2
  EXPECT_EQ(text(Forward::bypass), "bypass");
  EXPECT_EQ(text(Forward::vary_miss), "vary-miss");
  EXPECT_EQ(text(Forward::partial), "partial");
}

struct Nearest {
  const char* name;
  std::vector<std::string_view> lines;
  std::optional<std::string> read;  // "hit|fwd|detail"
};
class NearestStatus : public testing::TestWithParam<Nearest> {};

TEST_P(NearestStatus, IsTheLastMembers) {
  Fields fields;
  fields.append("Via", "1.1 x");
  for (const auto line : GetParam().lines) fields.append("cache-status", line);
  std::optional<std::string> read;
  if (const auto said = nearest_cache_status(fields)) {
    read = std::string(said->hit ? "hit" : "") + "|" + said->fwd + "|" + said->detail;
  }
  EXPECT_EQ(read, GetParam().read);
}

INSTANTIATE_TEST_SUITE_P(
    CacheStatus, NearestStatus,
    testing::Values(Nearest{"None", {}, std::nullopt},
                    Nearest{"OurOwn", {"b; fwd=uri-miss; detail=\"gone\""}, "|uri-miss|gone"},
                    Nearest{"OfAnAddress", {"\"127.0.0.1-80\"; fwd=stale"}, "|stale|"},
                    Nearest{"Hit", {"b; hit; ttl=-3"}, "hit||"},
                    Nearest{"NotAHit", {"b; hit=?0"}, "||"},
                    Nearest{"HitIsNoNumber", {"b; hit=1"}, "||"},
                    Nearest{"TheLastOfOneLine", {"origin; hit, b;fwd=miss"}, "|miss|"},
                    Nearest{"TheLastLine", {"b; fwd=miss", "c; fwd=stale"}, "|stale|"},
                    Nearest{"TheLastOfTwoKeys", {"b; fwd=miss; fwd=stale"}, "|stale|"},
                    Nearest{"SquidSays", {"squid-a.test;fwd=stale;detail=match"}, "|stale|match"},
                    Nearest{
                        "AStringWithAComma", {"b; detail=\"a, b; fwd=miss\""}, "||a, b; fwd=miss"},
                    Nearest{"AnEscapedQuote", {"b; detail=\"a\\\"b\\\\\""}, "||a\"b\\"},
                    Nearest{"AnEarlierLineIsBroken", {"b; fwd=", "c; fwd=stale"}, std::nullopt},
                    Nearest{"Empty", {""}, std::nullopt}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace proxy::http
