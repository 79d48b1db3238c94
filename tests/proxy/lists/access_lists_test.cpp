#include "proxy/lists/access_lists.hpp"

#include "tests/proxy/lists/lists.hpp"

namespace proxy::lists {
namespace {

struct AccessCase {
  const char* name;
  Lines block;
  Lines allow;
  const char* url;
  bool blocked;
};
class Allow : public testing::TestWithParam<AccessCase> {};

TEST_P(Allow, WinsWhateverTheKinds) {
  const auto& [name, block, allow, url, blocked] = GetParam();
  EXPECT_EQ(AccessLists(list_of(block), list_of(allow)).blocks(target_of(url)), blocked);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Allow,
    testing::Values(
        AccessCase{"HostBelowHost", {"a.test"}, {"b.a.test"}, "http://c.b.a.test/", false},
        AccessCase{"OtherHost", {"a.test"}, {"b.a.test"}, "http://a.test/", true},
        AccessCase{"HostAboveHost", {"b.a.test"}, {"a.test"}, "http://b.a.test/", false},
        AccessCase{"PrefixOverHost", {"a.test"}, {"a.test/ok/"}, "https://a.test/ok/x", false},
        AccessCase{"OtherPrefix", {"a.test"}, {"a.test/ok/"}, "https://a.test/no", true},
        AccessCase{"PrefixAboveTunnel", {"a.test"}, {"a.test/ok/"}, "a.test:443", true},
        AccessCase{"HostOverPrefix", {"http://a.test/x"}, {"a.test"}, "http://a.test/x", false},
        AccessCase{
            "AddressOverNetwork", {"192.0.2.0/24"}, {"192.0.2.7"}, "http://192.0.2.7/", false},
        AccessCase{"OtherAddress", {"192.0.2.0/24"}, {"192.0.2.7"}, "http://192.0.2.8/", true},
        AccessCase{
            "PrefixOverAddress", {"192.0.2.7"}, {"192.0.2.7/x"}, "http://192.0.2.7/x", false},
        AccessCase{"DotsOutOfPrefix", {"a.test"}, {"a.test/ok/"}, "http://a.test/ok/../no", true},
        AccessCase{"CodedDots", {"a.test"}, {"a.test/ok/"}, "http://a.test/ok/%2e%2E/no", true},
        AccessCase{"HalfCodedDots", {"a.test"}, {"a.test/ok/"}, "http://a.test/ok/.%2e/no", true},
        AccessCase{
            "DotsWithinPrefix", {"a.test"}, {"a.test/ok/"}, "http://a.test/ok/x/../y", false},
        AccessCase{"DotsIntoPrefix", {"a.test"}, {"a.test/ok/"}, "http://a.test/no/../ok/", true},
        AccessCase{"DotsIntoBlock", {"a.test/no/"}, {}, "http://a.test/ok/../no/x", true},
        AccessCase{"DotsOutOfBlock", {"a.test/no/"}, {}, "http://a.test/no/../ok", true},
        AccessCase{"DotsInAName", {"a.test/no/"}, {}, "http://a.test/.no/", false},
        AccessCase{"DotsInAQuery", {"a.test/no/"}, {}, "http://a.test/x?/../no/", false},
        AccessCase{"Nothing", {}, {"a.test"}, "http://a.test/", false}),
    [](const auto& tested) { return tested.param.name; });

TEST(AccessLists, LiftAnAddressForARequestOrForItself) {
  const AccessLists lists(list_of({"192.0.2.0/24"}), list_of({"a.test", "192.0.2.7"}));
  EXPECT_TRUE(lists.blocks(*config::parse_address("192.0.2.1")));
  EXPECT_TRUE(lists.blocks(*config::parse_address("::ffff:192.0.2.1")));
  EXPECT_TRUE(lists.blocks(*config::parse_address("64:ff9b::192.0.2.1")));
  EXPECT_FALSE(lists.blocks(*config::parse_address("192.0.2.7")));
  EXPECT_FALSE(lists.blocks(*config::parse_address("198.51.100.1")));
  EXPECT_TRUE(lists.lifts_addresses(target_of("http://a.test/")));
  EXPECT_FALSE(lists.lifts_addresses(target_of("http://b.test/")));
}

// Otherwise the pool would keep connections to one origin apart for nothing.
TEST(AccessLists, LiftNoAddressWhereNoneIsBlocked) {
  const AccessLists lists(list_of({"b.test"}), list_of({"a.test"}));
  EXPECT_FALSE(lists.lifts_addresses(target_of("http://a.test/")));
}

}  // namespace
}  // namespace proxy::lists
