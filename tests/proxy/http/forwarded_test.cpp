#include "proxy/http/forwarded.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/http/fields_of.hpp"

namespace proxy::http {
namespace {

struct ForwardedCase {
  const char* name;
  Fields earlier;
  const char* address;
  const char* forwarded;
  const char* x_forwarded_for;
};

class ForwardedFor : public testing::TestWithParam<ForwardedCase> {};

TEST_P(ForwardedFor, SaysWhoAskedAfterWhatWasSaid) {
  const auto& test = GetParam();
  const auto values = forwarded_for(test.earlier, test.address);
  EXPECT_EQ(values.forwarded, test.forwarded);
  EXPECT_EQ(values.x_forwarded_for, test.x_forwarded_for);
}

INSTANTIATE_TEST_SUITE_P(
    Rfc7239, ForwardedFor,
    testing::Values(
        ForwardedCase{"s4_v4", {}, "192.0.2.1", "for=192.0.2.1", "192.0.2.1"},
        ForwardedCase{"s6_v6", {}, "2001:db8::1", "for=\"[2001:db8::1]\"", "2001:db8::1"},
        ForwardedCase{"s7_1_one_list",
                      fields_of({"Forwarded: for=a;proto=http", "x-forwarded-for: b, c",
                                 "X-FORWARDED-FOR: d", "forwarded: for=_e", "X-A: f"}),
                      "192.0.2.1", "for=a;proto=http, for=_e, for=192.0.2.1", "b, c, d, 192.0.2.1"},
        ForwardedCase{"empty", fields_of({"Forwarded: ", "X-Forwarded-For: "}), "192.0.2.1",
                      "for=192.0.2.1", "192.0.2.1"}),
    [](const auto& test) { return test.param.name; });

TEST(WhatItTells, FollowsNameAndValue) {
  const struct {
    const char* line;
    Tells tells;
  } cases[] = {
      {"X-Forwarded-For: 1", Tells::client},
      {"x_forwarded_for: 1", Tells::client},
      {"True-Client-IP: 1", Tells::client},
      {"X-Real-IP: 1", Tells::client},
      {"Forwarded: for=1;by=2, FOR=3", Tells::client},
      {"Forwarded: for=1;host=evil", Tells::request},
      {"Forwarded: for=1;Proto=https", Tells::request},
      {"Forwarded: for=\"a;host=b\"", Tells::request},  // quoted: on the safe side
      {"X-Forwarded-Host: a", Tells::request},
      {"X_Forwarded_Host: a", Tells::request},
      {"X-Forwarded-Whatever: a", Tells::request},
      {"X.Forwarded.Host: a", Tells::request},
      {"X~Forwarded!Host: a", Tells::request},
      {"x-forwarded+proto: a", Tells::request},
      {"X'Forwarded: a", Tells::request},
      {"X.HTTP.Method.Override: a", Tells::request},
      {"X|Rewrite^URL: a", Tells::request},
      {"Front.End.Https: a", Tells::request},
      {"X.Forwarded.For: a", Tells::client},
      {"X*Real#IP: a", Tells::client},
      {"XForwardedHost: a", Tells::nothing},
      {"X-Forwarde1-Host: a", Tells::nothing},
      {"X-Forwarded: a", Tells::request},
      {"x-original-url: /", Tells::request},
      {"X-Rewrite-URL: /", Tells::request},
      {"X-HTTP-Method-Override: PUT", Tells::request},
      {"X-Host: a", Tells::request},
      {"Host: a", Tells::nothing},
      {"X-Forwarder: a", Tells::nothing},
      {"Cookie: a", Tells::nothing},
      {"Content-Type: a", Tells::nothing},
      {"X: a", Tells::nothing},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(classify_forwarded(*fields_of({c.line}).begin()), c.tells) << c.line;
  }
}

TEST(WhatItTells, KnowsTheWholeFamily) {
  for (const char* name : {"CF-Connecting-IP",
                           "CF-Connecting-IPv6",
                           "Client-IP",
                           "CloudFront-Viewer-Address",
                           "Fastly-Client-IP",
                           "Fly-Client-IP",
                           "Forwarded-For",
                           "Proxy-Client-IP",
                           "True-Client-IP",
                           "WL-Proxy-Client-IP",
                           "X-Azure-ClientIP",
                           "X-Client-IP",
                           "X-Cluster-Client-IP",
                           "X-Envoy-External-Address",
                           "X-Original-Forwarded-For",
                           "X-Originating-IP",
                           "X-ProxyUser-IP",
                           "X-Real-IP",
                           "X-Remote-Addr",
                           "X-Remote-IP"}) {
    EXPECT_EQ(classify_forwarded(*fields_of({name + std::string(": a")}).begin()), Tells::client)
        << name;
  }
  for (const char* name : {"CF-Visitor",
                           "CloudFront-Forwarded-Proto",
                           "Fly-Forwarded-Proto",
                           "WL-Proxy-SSL",
                           "X-ARR-SSL",
                           "X-Envoy-Original-Host",
                           "X-Envoy-Original-Path",
                           "X-Host-Override",
                           "X-Original-Path",
                           "X-Original-Proto",
                           "X-Original-Scheme",
                           "X-Script-Name",
                           "Front-End-Https",
                           "X-Forwarded",
                           "X-Host",
                           "X-HTTP-DestinationURL",
                           "X-HTTP-Host-Override",
                           "X-HTTP-Method",
                           "X-HTTP-Method-Override",
                           "X-Method-Override",
                           "X-Original-Host",
                           "X-Original-Method",
                           "X-Original-URI",
                           "X-Original-URL",
                           "X-Proxy-URL",
                           "X-Real-Host",
                           "X-Rewrite-URI",
                           "X-Rewrite-URL",
                           "X-Scheme",
                           "X-URL-Scheme",
                           "X-Forwarded-Scheme"}) {
    EXPECT_EQ(classify_forwarded(*fields_of({name + std::string(": a")}).begin()), Tells::request)
        << name;
  }
}

std::string shown(const Fields& fields) {
  std::string text;
  for (const Field& line : fields) {
    if (line.selects) text += '*';
    (text += line.name) += ' ';
  }
  return text;
}

TEST(HeededFields, AreRemovedOrMarkedByTheRules) {
  const Fields all = fields_of({"X-Real-IP: 1", "X-A: 2", "X-Forwarded-Proto: https", "X-B: 3"});
  const std::vector<std::string> a{"x-a"}, proto{"x_forwarded-PROTO"}, ip{"X-Real-IP"};
  EXPECT_EQ(shown(*visible_fields(all, {true})), "X-Real-IP X-A *X-Forwarded-Proto X-B ");
  EXPECT_EQ(shown(*visible_fields(all, {false})), "X-A X-B ");
  EXPECT_EQ(shown(*visible_fields(all, {false, a, proto})), "*X-Forwarded-Proto X-B ");
  const Fields odd = fields_of({"X.Real~IP: 1", "X!A: 2", "X.Forwarded.Proto: https", "X-B: 3"});
  EXPECT_EQ(shown(*visible_fields(odd, {true})), "X.Real~IP X!A *X.Forwarded.Proto X-B ");
  EXPECT_EQ(shown(*visible_fields(odd, {false, a, proto})), "*X.Forwarded.Proto X-B ");
  EXPECT_EQ(shown(*visible_fields(odd, {false, a})), "X-B ");
  EXPECT_EQ(shown(*visible_fields(all, {false, a, ip})), "*X-Real-IP X-B ");
  EXPECT_EQ(shown(*visible_fields(all, {true, a, a})), "X-Real-IP *X-A *X-Forwarded-Proto X-B ");
  EXPECT_FALSE(visible_fields(fields_of({"X-A: 1", "X-Real-IP: 1"}), {true}));
  EXPECT_FALSE(visible_fields(fields_of({"X-A: 1", "Accept: 1"}), {false}));
}

TEST(WithoutForwarded, LeavesTheOthersAsTheyWere) {
  const Fields all = fields_of({"Forwarded: a", "X-A: 1", "X-Forwarded-For: b",
                                "x-forwarded-for: c", "X-B: d", "X-Forwarded-Host: e"});
  const Fields others = without_forwarded(all).value();
  ASSERT_EQ(others.size(), 2U);
  EXPECT_EQ(others.begin()[0].name, "X-A");
  EXPECT_EQ(others.begin()[1].value, "d");
  EXPECT_FALSE(without_forwarded(others)) << "nothing to leave out";
}

}  // namespace
}  // namespace proxy::http
