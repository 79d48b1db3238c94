#include "proxy/http/cache_status.hpp"

#include <gtest/gtest.h>

namespace proxy::http {
namespace {

std::string written(const CacheStatus& status, std::string_view name = "cache-a") {
  std::string out;
  append_cache_status(out, name, status);
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

}  // namespace
}  // namespace proxy::http
