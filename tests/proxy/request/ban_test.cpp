#include "proxy/request/ban.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace {

HostPattern hosts(std::string_view text) {
  return HostPattern(config::parse_host_pattern(text).value());
}

struct BanCase {
  Ban ban;
  std::string name;
  bool covers;
};

TEST(Ban, CoversUrlsByHowTheyBeginOrByTheirHostInBothKeySpaces) {
  const BanCase cases[] = {
      {Ban("http://a.test/x/"), "http://a.test/x/", true},
      {Ban("http://a.test/x/"), "http://a.test/x/y?z", true},
      {Ban("http://a.test/x/"), "http://a.test/x", false},
      {Ban("http://a.test/x/"), "https://a.test/x/", false},
      {Ban("http://a.test/x/"), "reverse:http://a.test/x/y", true},
      {Ban(hosts("a.test")), "http://a.test/", true},
      {Ban(hosts("a.test")), "https://a.test/x", true},
      {Ban(hosts("a.test")), "http://a.test:8080/x", true},
      {Ban(hosts("a.test")), "http://b.test/http://a.test/", false},
      {Ban(hosts("a.test")), "reverse:http://a.test/x:1", true},
      {Ban(hosts("a.test:80")), "http://a.test/x", true},
      {Ban(hosts("a.test:80")), "https://a.test/x", false},
      {Ban(hosts("a.test:443")), "https://a.test/x", true},
      {Ban(hosts("a.test:8080")), "http://a.test:8080/x", true},
      {Ban(hosts("[2001:db8::1]")), "http://[2001:db8::1]/x", true},
      {Ban(hosts("[2001:db8::1]:81")), "http://[2001:db8::1]:81/x", true},
      {Ban(hosts("[2001:db8::1]:81")), "http://[2001:db8::1]/x", false},
      {Ban(hosts("*.a.test")), "http://b.a.test/", true},
      {Ban(hosts("*.a.test")), "http://a.test/", false},
      {Ban(hosts("*")), "reverse:/without/a/host", true},
      {Ban(hosts("a.test")), "reverse:/http://a.test/", false},
  };
  for (const auto& c : cases) EXPECT_EQ(c.ban.covers(c.name), c.covers) << c.name;
}

}  // namespace
}  // namespace proxy
