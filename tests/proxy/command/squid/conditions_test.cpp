#include "proxy/command/squid/conditions.hpp"

#include <gtest/gtest.h>

namespace proxy::command::squid {
namespace {

std::string texts(const Values& networks) {
  if (networks.empty()) return "none";
  std::string out;
  for (const Value& network : networks) {
    out += (out.empty() ? "" : " ") + to_text(std::get<config::Network>(network));
  }
  return out;
}

TEST(SquidNetworks, AreReadInEachForm) {
  struct Case {
    std::string_view text, networks;
  };
  for (const Case& c : {Case{"10.1.2.3", "10.1.2.3"},
                        Case{"10.1.2.3/8", "10.0.0.0/8"},
                        Case{"10.0.0.0/255.255.0.0", "10.0.0.0/16"},
                        Case{"all", "0.0.0.0/0 ::/0"},
                        Case{"ipv4", "0.0.0.0/0"},
                        Case{"2001:db8::1/32", "2001:db8::/32"},
                        Case{"::/0", "::/0"},
                        Case{"10.0.0.1-10.0.0.4", "10.0.0.1 10.0.0.2/31 10.0.0.4"},
                        Case{"10.30.0.0-10.33.0.0/16", "10.30.0.0/15 10.32.0.0/15"},
                        Case{"255.255.255.254-255.255.255.255", "255.255.255.254/31"},
                        Case{"fc00::1-fc00::2", "fc00::1 fc00::2"},
                        Case{"0.0.0.0-255.255.255.255", "0.0.0.0/0"},
                        Case{"host.example", "none"},
                        Case{"10.0.0.0/33", "none"},
                        Case{"10.0.0.0/", "none"},
                        Case{"10.0.0.0/255.0.255.0", "none"},
                        Case{"10.0.0.9-10.0.0.1", "none"},
                        Case{"10.0.0.1-::1", "none"},
                        Case{"", "none"},
                        Case{"10.0.0.1-", "none"}}) {
    EXPECT_EQ(texts(parse_addresses(c.text)), c.networks) << c.text;
  }
}

}  // namespace
}  // namespace proxy::command::squid
