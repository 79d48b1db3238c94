#include "proxy/policy/request.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/policy/requests.hpp"

namespace proxy::policy {
namespace {

using http::HeadError;

TEST(ParseRequest, DerivesTargetFramingAndFactsOnce) {
  const std::string text =
      "POST http://A.test:80/x HTTP/1.1\r\nHost: other.test\r\nContent-Length: 3\r\n"
      "Cache-Control: no-cache\r\n\r\n";
  const auto request = parse_request(text, {});
  ASSERT_TRUE(request);
  EXPECT_EQ((*request)->target.url(), "http://a.test/x") << "RFC 9112 3.2.2: Host is ignored";
  EXPECT_EQ((*request)->framing, (http::Framing{http::Framing::Kind::sized, 3}));
  EXPECT_TRUE((*request)->facts.control.no_cache);
  EXPECT_FALSE((*request)->is_head());
}

struct Refused {
  const char* name;
  std::string text;
  HeadError error;
};
class ParseRequestRefuses : public testing::TestWithParam<Refused> {};

TEST_P(ParseRequestRefuses, WhatAnyOfItsPartsRefuses) {
  EXPECT_EQ(parse_request(GetParam().text, {}).error(), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Heads, ParseRequestRefuses,
    testing::Values(
        Refused{"Line", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", HeadError::bad_request_line},
        Refused{"User", "GET http://u:p@a/ HTTP/1.1\r\nHost: a\r\n\r\n", HeadError::userinfo},
        Refused{"NobodyAsUser", "GET http://@a/ HTTP/1.1\r\nHost: a\r\n\r\n", HeadError::userinfo},
        Refused{"NoHost", "GET / HTTP/1.1\r\n\r\n", HeadError::no_host},
        Refused{"TwoHosts", "GET http://a/ HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
                HeadError::two_hosts},
        Refused{"Target", "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
                HeadError::unsupported_scheme},
        Refused{"Framing", "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n",
                HeadError::bad_coding}),
    [](const auto& tested) { return tested.param.name; });

std::string many_ranges(std::size_t count) {
  std::string ranges = "0-";
  while (--count > 0) ranges += ",0-";
  return ranges;
}

TEST(ParseRequest, HeedsWhatIsWorthHeedingOfARange) {  // RFC 9110 14.2, 17.15
  const struct {
    std::string lines, heeded;
  } cases[] = {
      {"Range: bytes=5-9\r\n", "bytes=5-9"},
      {"Range: bytes=" + many_ranges(http::kMostRanges) + "\r\n", "bytes=0-"},
      {"Range: bytes=" + many_ranges(http::kMostRanges + 1) + "\r\n", ""},
      {"Range: bytes=9-5\r\n", "bytes=9-5"},
      {"Range: bytes=5-9\r\nRange: bytes=5-9\r\n", ""},
      {"Range: lines=5-9\r\n", "lines=5-9"},
  };
  for (const auto& [lines, heeded] : cases) {
    const TextRequest request("Accept: x\r\nIf-Range: \"v1\"\r\n" + lines);
    const auto& head = (*request).head;
    const auto& facts = (*request).facts;
    EXPECT_EQ(head.fields.value(http::field::range), heeded) << lines;
    EXPECT_EQ(facts.ranges, heeded) << lines;
    EXPECT_EQ(facts.range, !heeded.empty()) << lines;
    EXPECT_EQ(facts.if_range.has_value(), !heeded.empty()) << lines;
    EXPECT_EQ(head.fields.size(), heeded.empty() ? 2U : 4U) << lines;
  }
}

TEST(ParseRequest, LeavesTheRangeOfOtherMethodsAsItIs) {
  const TextRequest request("Range: x\r\n", "TRACE http://a.test/x HTTP/1.1");
  EXPECT_EQ((*request).head.fields.value(http::field::range), "x");
}

TEST(IsOfNeighbour, TellsAProxysQuestionFromAClients) {
  const std::string only = "Cache-Control: only-if-cached\r\n";
  const std::string via = "Via: 1.1 b\r\n";
  const struct {
    std::string lines;
    bool known_address;
    bool expected;
  } rows[] = {
      {"", true, false},    {via, true, false},  // no question
      {only, false, false}, {only, true, true}, {only + via, false, true}, {only + via, true, true},
  };
  for (const auto& row : rows) {
    const TextRequest request(row.lines);
    request.parsed->facts.from_neighbour = row.known_address;
    EXPECT_EQ(is_of_neighbour(*request), row.expected) << row.lines << row.known_address;
  }
}

TEST(OwnedRequest, OutlivesTheOneItCopiesAndIsAGet) {
  auto original = std::make_unique<TextRequest>("Accept: x\r\nCache-Control: max-age=5\r\n",
                                                "HEAD http://a.test/x HTTP/1.0");
  const OwnedRequest owned(**original);
  original.reset();
  const auto& request = owned.get();
  EXPECT_EQ(request.head.method, "GET");
  EXPECT_FALSE(request.is_head());
  EXPECT_EQ(request.head.minor, 0);
  EXPECT_EQ(request.head.target, "http://a.test/x");
  EXPECT_EQ(request.target.url(), "http://a.test/x");
  EXPECT_EQ(request.head.fields.value(http::field::accept), "x");
  EXPECT_EQ(request.head.fields.size(), 3U);
  EXPECT_EQ(request.facts.control.max_age, std::chrono::seconds(5));
  EXPECT_FALSE(request.framing.has_body());
}

TEST(OwnedRequest, IsAsAnybodyMightHaveSentIt) {
  const TextRequest original(
      "Accept: x\r\nAuthorization: Bearer a\r\nCookie: b\r\nPrivate-Token: c\r\n"
      "Range: bytes=1-2\r\nIf-Range: \"d\"\r\nIf-None-Match: \"e\"\r\nIf-Modified-Since: f\r\n"
      "Cache-Control: no-cache\r\nPragma: no-cache\r\n");
  const OwnedRequest owned(*original, OwnedRequest::Fields::anybodys);
  const auto& request = owned.get();
  EXPECT_EQ(request.head.fields.value(http::field::accept), "x");
  EXPECT_EQ(request.head.fields.size(), 2U);  // Host, too
  EXPECT_FALSE(request.facts.authorization || request.facts.range || request.facts.if_range);
  EXPECT_FALSE(request.facts.control.no_cache);
}

}  // namespace
}  // namespace proxy::policy
