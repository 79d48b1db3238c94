#include "config/networks.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <string>

namespace config {
namespace {

bool covers(std::string_view item, std::string_view address) {
  const auto networks = parse_networks(item);
  const auto bytes = parse_address(address);
  EXPECT_TRUE(networks) << item;
  EXPECT_TRUE(bytes) << address;
  return networks && bytes && contains(*networks, *bytes);
}

TEST(ParseAddress, MakesOneAddressOfAnIPv4AddressAndItsMappedForm) {
  EXPECT_EQ(parse_address("127.0.0.1"), parse_address("::ffff:127.0.0.1"));
  EXPECT_EQ(parse_address("127.0.0.1"), parse_address("::ffff:7f00:1"));
  EXPECT_EQ(parse_address("127.0.0.1"), address_from_v4({127, 0, 0, 1}));
  EXPECT_TRUE(is_v4(*parse_address("::ffff:10.0.0.1")));
  EXPECT_FALSE(is_v4(*parse_address("::10.0.0.1")));
}

TEST(ParseDottedQuad, AgreesWithTheCLibrary) {
  for (const char* text :
       {"0.0.0.0",    "255.255.255.255",  "10.20.30.40", "1.2.3.256", "1.2.3.999",
        "1.2.3.1000", "1.2.3.4294967297", "01.2.3.4",    "1.2.3.00",  "1.2.3",
        "1.2.3.",     ".1.2.3",           "1..2.3",      "1.2.3.4.",  "1.2.3.4.5",
        "1.2.3.4a",   "a.2.3.4",          "-1.2.3.4",    "1,2.3.4",   ""}) {
    std::array<std::uint8_t, 4> bytes{};
    const bool is_one = inet_pton(AF_INET, text, bytes.data()) == 1;
    EXPECT_EQ(parse_dotted_quad(text), is_one ? std::optional(bytes) : std::nullopt) << text;
  }
}

TEST(ParseAddress, RefusesWhatIsNotPlainlyAnAddress) {
  for (const std::string_view text :
       {"", "localhost", "127.1", "0x7f.0.0.1", "127.0.0.01", "127.0.0.1 ", "[::1]", "fe80::1%eth0",
        "1.2.3.4:80", "256.0.0.1", ":::", "::ffff:127.0.0.1:0000:0000:0000:0000:0000:0000:0000"}) {
    EXPECT_FALSE(parse_address(text)) << text;
  }
  EXPECT_FALSE(parse_address(std::string_view("10.0.0.1\0", 9)));
}

struct NetworkCase {
  std::string_view item, inside, outside;
};

TEST(ParseNetworks, CoversWhatTheItemNamesAndNoMore) {
  for (const NetworkCase& c : {
           NetworkCase{"10.1.2.3", "10.1.2.3", "10.1.2.4"},
           NetworkCase{"10.0.0.0/8", "10.255.255.255", "11.0.0.0"},
           NetworkCase{"10.0.0.0/8", "::ffff:10.0.0.1", "::10.0.0.1"},
           NetworkCase{"192.168.4.0/22", "192.168.7.255", "192.168.8.0"},
           NetworkCase{"::ffff:10.0.0.0/104", "10.9.9.9", "11.0.0.1"},
           NetworkCase{"2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"},
           NetworkCase{"0.0.0.0/0", "203.0.113.9", "2001:db8::1"},
           NetworkCase{"::/0", "2001:db8::1", "203.0.113.9"},
           NetworkCase{"loopback", "127.255.255.254", "128.0.0.1"},
           NetworkCase{"loopback", "0.1.2.3", "1.0.0.0"},
           NetworkCase{"loopback", "::ffff:127.0.0.1", "::2"},
           NetworkCase{"loopback", "::1", "10.0.0.1"},
           NetworkCase{"loopback", "::", "fe80::1"},
           NetworkCase{"private", "172.31.255.255", "172.32.0.0"},
           NetworkCase{"private", "192.168.0.1", "192.169.0.1"},
           NetworkCase{"private", "fdff::1", "fe00::1"},
           NetworkCase{"link-local", "169.254.169.254", "169.255.0.1"},
           NetworkCase{"link-local", "febf::1", "fec0::1"},
           NetworkCase{"metadata", "169.254.169.254", "169.254.169.253"},
           NetworkCase{"metadata", "fd00:ec2::254", "fd00:ec2::253"},
       }) {
    EXPECT_TRUE(covers(c.item, c.inside)) << c.item << ' ' << c.inside;
    EXPECT_FALSE(covers(c.item, c.outside)) << c.item << ' ' << c.outside;
  }
}

TEST(ParseNetworks, LetsAnyMeanBothFamilies) {
  for (const std::string_view item : {"any", "all"}) {
    EXPECT_TRUE(covers(item, "203.0.113.9"));
    EXPECT_TRUE(covers(item, "2001:db8::1"));
  }
}

TEST(ParseNetworks, RefusesWhatIsNoSetAddressOrRange) {
  for (const std::string_view item :
       {"", "Loopback", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8/8", "::/129",
        "10.0.0.1/8", "2001:db8::1/32", "/8", "10.0.0.0/255.0.0.0", "example.com"}) {
    EXPECT_FALSE(parse_networks(item)) << item;
  }
}

TEST(WithoutBitsBeyond, IsTheRangeThatWasMeantUnlessItIsWide) {
  EXPECT_EQ(without_bits_beyond("10.0.0.1/8"), "10.0.0.0/8");
  EXPECT_EQ(without_bits_beyond("192.168.7.9/23"), "192.168.6.0/23");
  EXPECT_EQ(without_bits_beyond("2001:db8::1/32"), "2001:db8::/32");
  for (const std::string_view other :
       {"10.0.0.0/8", "10.0.0.1", "10.0.0.1/0", "10.0.0.1/7", "::1/0", "", "any", "10.0.0.1/33"}) {
    EXPECT_EQ(without_bits_beyond(other), "") << other;
  }
}

TEST(Contains, IsFalseForAnEmptyList) {
  EXPECT_FALSE(contains(Networks{}, *parse_address("127.0.0.1")));
}

TEST(Translated, IsTheIpv4AddressInsideOneOfNat64) {
  EXPECT_EQ(translated(*parse_address("64:ff9b::192.0.2.1")), parse_address("192.0.2.1"));
  for (const char* other : {"192.0.2.1", "64:ff9b:1::192.0.2.1", "64:ff9b::1:192.0.2.1", "::1"}) {
    EXPECT_EQ(translated(*parse_address(other)), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace config
