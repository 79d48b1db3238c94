#include "proxy/command/squid/networks.hpp"

#include <gtest/gtest.h>

namespace proxy::command::squid {
namespace {

std::string texts(const std::optional<config::Networks>& networks) {
  if (!networks) return "none";
  std::string out;
  for (const auto& network : *networks) out += (out.empty() ? "" : " ") + to_text(network);
  return out;
}

config::Networks of(std::initializer_list<std::string_view> items) {
  config::Networks all;
  for (const auto item : items) {
    const auto networks = parse_addresses(item).value();
    all.insert(all.end(), networks.begin(), networks.end());
  }
  return all;
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

TEST(SquidNetworks, HaveAnIntersection) {
  EXPECT_EQ(texts(intersection(of({"10.0.0.0/8", "fc00::/7"}), of({"10.1.0.0/16", "11.0.0.0/8"}))),
            "10.1.0.0/16");
  EXPECT_EQ(texts(intersection(of({"all"}), of({"10.0.0.0/8", "::1"}))), "10.0.0.0/8 ::1");
  EXPECT_EQ(texts(intersection(of({"10.0.0.0/8"}), of({"::/0"}))), "") << "IPv4 is no part of ::/0";
}

TEST(SquidNetworks, HaveAComplement) {
  EXPECT_EQ(texts(complement(of({"128.0.0.0/1", "::/0"}))), "0.0.0.0/1");
  EXPECT_EQ(texts(complement(of({"192.0.0.0/2", "ipv6"}))), "0.0.0.0/1 128.0.0.0/2");
  EXPECT_EQ(texts(complement(of({"all"}))), "");
  const auto others = complement(of({"10.0.0.7", "::1"})).value();
  EXPECT_EQ(others.size(), 32u + 128u);
  EXPECT_TRUE(config::contains(others, *config::parse_address("10.0.0.6")));
  EXPECT_FALSE(config::contains(others, *config::parse_address("10.0.0.7")));
}

TEST(SquidNetworks, HaveNoComplementOfTooManyParts) {
  config::Networks many;
  for (std::uint8_t i = 0; i < 200; ++i) {
    many.push_back({config::address_from_v4({10, i, 0, 1}), 128});
  }
  EXPECT_EQ(complement(many), std::nullopt);
}

}  // namespace
}  // namespace proxy::command::squid
