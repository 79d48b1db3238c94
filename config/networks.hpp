// Address ranges, of which access lists are made.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace config {

// An IP address in network order. IPv4 is stored in its mapped form (::ffff:a.b.c.d, RFC 4291
// section 2.5.5.2), so 127.0.0.1 and ::ffff:127.0.0.1 are one address and no check can be evaded by
// choosing the other form.
using Address = std::array<std::uint8_t, 16>;

Address address_from_v4(const std::array<std::uint8_t, 4>& bytes);
bool is_v4(const Address& address);

// Reads four decimal numbers up to 255, without leading zeros, between dots: "192.0.2.1".
std::optional<std::array<std::uint8_t, 4>> parse_dotted_quad(std::string_view text);

// Reads "192.0.2.1" or "2001:db8::1" and nothing else: no brackets, no zone, no port.
std::optional<Address> parse_address(std::string_view text);

// The addresses that share the first `prefix` of 128 bits with `address`. An IPv4 prefix counts
// from bit 96. A range of IPv6 never contains IPv4 addresses: "::/0" is all of IPv6 and nothing
// else.
struct Network {
  Address address{};
  unsigned prefix = 128;

  bool contains(const Address& candidate) const;
  bool operator==(const Network&) const = default;
};

using Networks = std::vector<Network>;

bool contains(std::span<const Network> networks, const Address& address);

// Whether the first network contains all of the second one.
bool covers(const Network& wide, const Network& narrow);

// The network as the settings write it: "10.0.0.0/8".
std::string to_text(const Network& network);

// Whether the address means "this machine" on every machine.
bool is_loopback(const Address& address);

// The IPv4 address embedded in a NAT64 address (64:ff9b::/96, RFC 6052), to which the gateway
// connects.
std::optional<Address> translated(const Address& address);

// One item of an access list: an address, a range ("10.0.0.0/8", "fc00::/7") or a named set:
//   any, all    every address
//   loopback    this machine and "no address": 127/8, 0/8, ::1, ::
//   private     RFC 1918 and fc00::/7 (RFC 4193)
//   link-local  169.254/16 (RFC 3927), fe80::/10
//   metadata    the addresses at which cloud hosts hand out credentials
// A range with bits set beyond its prefix is refused, because it is more often a mistake than
// meant.
std::optional<Networks> parse_networks(std::string_view item);

// "10.0.0.0/8" for "10.0.0.1/8": the range that was meant if a range has bits set beyond its
// prefix. Empty for other texts, and for ranges with a prefix below 8, which are too wide to be
// suggested.
std::string without_bits_beyond(std::string_view item);

}  // namespace config
