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

TEST(WithoutForwarded, LeavesTheOthersAsTheyWere) {
  const Fields all = fields_of({"Forwarded: a", "X-A: 1", "X-Forwarded-For: b",
                                "x-forwarded-for: c", "X-Forwarded-Host: d"});
  const Fields others = without_forwarded(all);
  ASSERT_EQ(others.size(), 2U);
  EXPECT_EQ(others.begin()[0].name, "X-A");
  EXPECT_EQ(others.begin()[1].value, "d");
}

}  // namespace
}  // namespace proxy::http
