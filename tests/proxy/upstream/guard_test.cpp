#include "proxy/upstream/guard.hpp"

#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <memory>
#include <string>

namespace proxy::upstream {
namespace {

using boost::asio::ip::make_address;

config::AccessSettings with(std::initializer_list<const char*> deny_to, bool deny_to_self) {
  config::AccessSettings access;
  access.deny_to.clear();
  for (const char* item : deny_to) {
    const auto networks = config::parse_networks(item).value();
    access.deny_to.insert(access.deny_to.end(), networks.begin(), networks.end());
  }
  access.deny_to_self = deny_to_self;
  return access;
}

std::vector<net::tcp::endpoint> listening_on(const char* host, std::uint16_t port) {
  return {{make_address(host), port}};
}

TEST(Guard, DeniesStrangersPrivateAddressesToo) {  // K2
  const Guard guard(config::AccessSettings{}, {});
  for (const char* text : {"10.0.0.1", "172.16.0.1", "192.168.1.1", "fd00::1", "127.0.0.1",
                           "::ffff:10.0.0.1", "64:ff9b::10.0.0.1"}) {
    EXPECT_FALSE(guard.allows(make_address(text), 443, NamedBy::stranger)) << text;
  }
  EXPECT_TRUE(guard.allows(make_address("192.0.2.1"), 443, NamedBy::stranger));
  EXPECT_TRUE(guard.allows(make_address("10.0.0.1"), 443, NamedBy::client));
}

TEST(Guard, DeniesClientsByTheUnmappedAddress) {
  const Guard guard(config::AccessSettings{}, {});
  const struct {
    const char* address;
    bool allowed;
  } cases[] = {
      {"192.0.2.1", true},
      {"10.0.0.1", true},
      {"2001:db8::1", true},
      {"64:ff9b::192.0.2.1", true},
      {"127.0.0.1", false},
      {"127.8.9.10", false},
      {"0.0.0.0", false},
      {"::", false},
      {"::1", false},
      {"::ffff:127.0.0.1", false},
      {"::ffff:0.0.0.0", false},
      {"169.254.169.254", false},
      {"::ffff:169.254.169.254", false},
      {"fe80::1%3", false},
      {"fd00:ec2::254", false},
      {"64:ff9b::127.0.0.1", false},
      {"64:ff9b::a9fe:a9fe", false},
  };
  for (const auto& [text, allowed] : cases) {
    const auto address = make_address(text);
    EXPECT_EQ(guard.allows(address, 80, NamedBy::client), allowed) << text;
    EXPECT_TRUE(guard.allows(address, 80, NamedBy::configured)) << text;
  }
}

TEST(Guard, DeniesItsOwnSocketsToEverybody) {
  const Guard guard(with({}, false), listening_on("127.0.0.1", 3128));
  for (const auto named_by : {NamedBy::client, NamedBy::configured}) {
    EXPECT_FALSE(guard.allows(make_address("127.0.0.1"), 3128, named_by));
    EXPECT_FALSE(guard.allows(make_address("::ffff:127.0.0.1"), 3128, named_by));
    EXPECT_FALSE(guard.allows(make_address("0.0.0.0"), 3128, named_by));
    EXPECT_TRUE(guard.allows(make_address("127.0.0.1"), 3129, named_by));
    EXPECT_TRUE(guard.allows(make_address("192.0.2.1"), 3128, named_by));
  }
}

// A wildcard socket is reached by every address of this machine; an IPv6 one also by IPv4
// addresses.
TEST(Guard, DeniesAWildcardSocketUnderEveryLocalAddress) {
  for (const char* wildcard : {"0.0.0.0", "::"}) {
    const Guard guard(with({}, false), listening_on(wildcard, 3128));
    for (const char* local : {"127.0.0.1", "127.0.0.2", "::1", "0.0.0.0", "::"}) {
      EXPECT_FALSE(guard.allows(make_address(local), 3128, NamedBy::configured)) << local;
      EXPECT_TRUE(guard.allows(make_address(local), 80, NamedBy::configured)) << local;
    }
    EXPECT_TRUE(guard.allows(make_address("192.0.2.1"), 3128, NamedBy::client));
  }
}

TEST(Guard, DeniesTheAddressesOfOurInterfacesWhereTold) {
  ifaddrs* first = nullptr;
  ASSERT_EQ(::getifaddrs(&first), 0);
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned(first, &::freeifaddrs);
  const Guard closed(with({}, true), {});
  const Guard open(with({}, false), {});
  for (auto* each = first; each; each = each->ifa_next) {
    if (!each->ifa_addr || each->ifa_addr->sa_family != AF_INET) continue;
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
    const boost::asio::ip::address_v4 address(ntohl(v4->sin_addr.s_addr));
    EXPECT_FALSE(closed.allows(address, 80, NamedBy::client)) << address;
    EXPECT_TRUE(closed.allows(address, 80, NamedBy::configured)) << address;
    EXPECT_TRUE(open.allows(address, 80, NamedBy::client)) << address;
  }
}

TEST(Guard, BlocksListedAddressesToClientsOnly) {
  lists::ListBuilder block;
  block.add(config::parse_networks("192.0.2.0/24")->front());
  const lists::AccessLists lists(std::move(block).finish(), {});
  const Guard guard(with({}, false), {}, &lists);
  for (const char* text : {"192.0.2.1", "::ffff:192.0.2.1", "64:ff9b::192.0.2.1"}) {
    const auto address = make_address(text);
    EXPECT_TRUE(guard.blocks(address, NamedBy::client)) << text;
    EXPECT_FALSE(guard.blocks(address, NamedBy::allowed)) << text;
    EXPECT_FALSE(guard.blocks(address, NamedBy::configured)) << text;
    EXPECT_TRUE(guard.allows(address, 80, NamedBy::client)) << text;
  }
  EXPECT_FALSE(guard.blocks(make_address("198.51.100.1"), NamedBy::client));
}

// access.allow lifts only access.block.
TEST(Guard, DeniesWhatIsAllowedWhereDenyToDoes) {
  const Guard guard(config::AccessSettings{}, {});
  EXPECT_FALSE(guard.allows(make_address("127.0.0.1"), 80, NamedBy::allowed));
}

TEST(Guard, KnowsDeniedHostsByTheirLooks) {
  const Guard guard(config::AccessSettings{}, {});
  const struct {
    const char* host;
    bool denied;
  } cases[] = {
      {"127.0.0.1", true},
      {"::1", true},
      {"::ffff:127.0.0.1", true},
      {"64:ff9b::7f00:1", true},
      {"localhost", true},
      {"LocalHost", true},
      {"localhost.", true},
      {"a.localhost", true},
      {"a.b.localhost.", true},
      {"169.254.169.254", true},
      {"192.0.2.1", false},
      {"2001:db8::1", false},
      {"localhost.test", false},
      {"notlocalhost", false},
      {"LOCALHOS\x14", false},
      {"host", false},
      {".", false},
      {"", false},
  };
  for (const auto& [host, denied] : cases) {
    EXPECT_EQ(guard.names_denied_literal(host, 80), denied) << host;
  }
}

TEST(Guard, LetsLocalhostThroughWhereDenyToIsNarrowed) {
  const Guard guard(with({"link-local"}, false), listening_on("127.0.0.1", 3128));
  EXPECT_FALSE(guard.names_denied_literal("localhost", 80));
  EXPECT_FALSE(guard.names_denied_literal("127.0.0.1", 80));
  EXPECT_TRUE(guard.names_denied_literal("localhost", 3128));
  EXPECT_TRUE(guard.names_denied_literal("127.0.0.1", 3128));
  EXPECT_TRUE(guard.names_denied_literal("169.254.1.1", 80));
}

}  // namespace
}  // namespace proxy::upstream
