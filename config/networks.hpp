// Address ranges: what an access list is made of, and whether an address is in it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace config {

// An IP address in network order. IPv4 stands in its mapped form (::ffff:a.b.c.d, RFC 4291
// section 2.5.5.2), so that 127.0.0.1 and ::ffff:127.0.0.1 are one address and cannot be played
// against each other.
using Address = std::array<std::uint8_t, 16>;

Address address_from_v4(const std::array<std::uint8_t, 4>& bytes);
bool is_v4(const Address& address);

// Reads "192.0.2.1" or "2001:db8::1" (no brackets, no zone, no port); nothing else is an address.
std::optional<Address> parse_address(std::string_view text);

// The addresses that share the first `prefix` of 128 bits with `address`; an IPv4 prefix counts
// from bit 96. A range of IPv6 never contains IPv4 addresses: "::/0" is all of IPv6 and no more.
struct Network {
  Address address{};
  unsigned prefix = 128;

  bool contains(const Address& candidate) const;
  bool operator==(const Network&) const = default;
};

using Networks = std::vector<Network>;

bool contains(std::span<const Network> networks, const Address& address);

// The IPv4 address inside one of NAT64 (64:ff9b::/96, RFC 6052), to which its gateway connects.
std::optional<Address> translated(const Address& address);

// One item of an access list: an address, a range ("10.0.0.0/8", "fc00::/7") or a named set:
//   any, all    every address
//   loopback    this machine and "no address": 127/8, 0/8, ::1, ::
//   private     RFC 1918 and fc00::/7 (RFC 4193)
//   link-local  169.254/16 (RFC 3927), fe80::/10
//   metadata    where cloud hosts hand out credentials
// A range with bits set beyond its prefix is refused: it is more often a slip than meant.
std::optional<Networks> parse_networks(std::string_view item);

}  // namespace config
