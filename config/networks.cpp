#include "config/networks.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "config/text.hpp"

namespace config {

namespace {

constexpr unsigned kV4Start = 96;
constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

struct NamedSet {
  std::string_view name;
  std::array<std::string_view, 8> ranges;  // the rest is empty
};

constexpr NamedSet kNamedSets[] = {
    {"any", {"0.0.0.0/0", "::/0"}},
    // As Squid calls it.
    {"all", {"0.0.0.0/0", "::/0"}},
    {"loopback", {"127.0.0.0/8", "0.0.0.0/8", "::1", "::"}},
    {"private", {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"}},
    {"link-local", {"169.254.0.0/16", "fe80::/10"}},
    // EC2, GCP, Azure and most others; ECS tasks and EKS pods; Alibaba; Azure's wire server.
    {"metadata",
     {"169.254.169.254", "fd00:ec2::254", "fd20:ce::254", "169.254.170.2", "169.254.170.23",
      "fd00:ec2::23", "100.100.100.200", "168.63.129.16"}},
};

// The eight bytes from `at` on as a number whose highest bit comes first.
std::uint64_t number_at(const Address& address, std::size_t at) {
  std::uint64_t number = 0;
  // An address is aligned for bytes only.
  std::memcpy(&number, address.data() + at, sizeof number);
  return std::endian::native == std::endian::little ? __builtin_bswap64(number) : number;
}

// Two words instead of sixteen bytes: the client of each request is compared with whole lists.
bool same_prefix(const Address& a, const Address& b, unsigned bits) {
  const auto first = number_at(a, 0) ^ number_at(b, 0);
  if (bits <= 64) return bits == 0 || first >> (64 - bits) == 0;
  return first == 0 && (number_at(a, 8) ^ number_at(b, 8)) >> (128 - bits) == 0;
}

// The address without the bits beyond the prefix.
Address masked(Address address, unsigned prefix) {
  for (unsigned bit = prefix; bit < 128; ++bit) {
    address[bit / 8] &= static_cast<std::uint8_t>(~(1U << (7 - bit % 8)));
  }
  return address;
}

// With all bits of its address.
std::optional<Network> parse_any_network(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = parse_address(text.substr(0, slash));
  if (!address) return std::nullopt;
  if (slash == std::string_view::npos) return Network{*address, 128};
  // "::ffff:10.0.0.0/104" counts its prefix as IPv6 does: the notation decides.
  const bool dotted = text.find(':') == std::string_view::npos;
  const auto bits = parse_number(text.substr(slash + 1), dotted ? 32 : 128);
  if (!bits) return std::nullopt;
  return Network{*address, static_cast<unsigned>(*bits) + (dotted ? kV4Start : 0)};
}

std::optional<Network> parse_network(std::string_view text) {
  const auto network = parse_any_network(text);
  const bool good = network && masked(network->address, network->prefix) == network->address;
  return good ? network : std::nullopt;
}

}  // namespace

Address address_from_v4(const std::array<std::uint8_t, 4>& bytes) {
  Address address{};
  std::copy(kMapped.begin(), kMapped.end(), address.begin());
  std::copy(bytes.begin(), bytes.end(), address.begin() + kMapped.size());
  return address;
}

bool is_v4(const Address& address) {
  return std::equal(kMapped.begin(), kMapped.end(), address.begin());
}

std::optional<std::array<std::uint8_t, 4>> parse_dotted_quad(std::string_view text) {
  constexpr unsigned kNoDigit = 256;
  std::array<std::uint8_t, 4> bytes{};
  std::size_t dots = 0;
  unsigned number = kNoDigit;
  for (const char c : text) {
    if (c == '.') {
      if (number == kNoDigit || dots == 3) return std::nullopt;
      bytes[dots++] = static_cast<std::uint8_t>(std::exchange(number, kNoDigit));
      continue;
    }
    if (c < '0' || c > '9' || number == 0) return std::nullopt;  // no digit follows a zero in front
    const auto digit = static_cast<unsigned>(c - '0');
    number = number == kNoDigit ? digit : number * 10 + digit;
    if (number > 255) return std::nullopt;
  }
  if (number == kNoDigit || dots != 3) return std::nullopt;
  bytes[dots] = static_cast<std::uint8_t>(number);
  return bytes;
}

// It asks the C library about IPv6 alone, because the hosts of requests come here.
std::optional<Address> parse_address(std::string_view text) {
  if (const auto v4 = parse_dotted_quad(text)) return address_from_v4(*v4);
  if (text.size() >= INET6_ADDRSTRLEN || text.find(':') == std::string_view::npos ||
      text.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  const std::string terminated(text);
  Address v6{};
  if (inet_pton(AF_INET6, terminated.c_str(), v6.data()) == 1) return v6;
  return std::nullopt;
}

bool Network::contains(const Address& candidate) const {
  if (prefix < kV4Start && config::is_v4(candidate)) return false;
  return same_prefix(address, candidate, prefix);
}

bool contains(std::span<const Network> networks, const Address& address) {
  return std::any_of(networks.begin(), networks.end(),
                     [&](const Network& network) { return network.contains(address); });
}

bool covers(const Network& wide, const Network& narrow) {
  return wide.prefix <= narrow.prefix && wide.contains(narrow.address);
}

std::string to_text(const Network& network) {
  const bool v4 = network.prefix >= kV4Start && is_v4(network.address);
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(v4 ? AF_INET : AF_INET6, network.address.data() + (v4 ? 12 : 0), text.data(),
              text.size());
  std::string out = text.data();
  if (network.prefix < 128) out += '/' + std::to_string(network.prefix - (v4 ? kV4Start : 0));
  return out;
}

std::optional<Address> translated(const Address& address) {
  // A network may have a prefix of its own (RFC 6052 section 2.2), which no address tells.
  constexpr std::array<std::uint8_t, kV4Start / 8> kNat64{0x00, 0x64, 0xff, 0x9b};
  if (!std::equal(kNat64.begin(), kNat64.end(), address.begin())) return std::nullopt;
  return address_from_v4({address[12], address[13], address[14], address[15]});
}

std::optional<Networks> parse_networks(std::string_view item) {
  Networks networks;
  for (const NamedSet& set : kNamedSets) {
    if (set.name != item) continue;
    for (const std::string_view range : set.ranges) {
      if (!range.empty()) networks.push_back(*parse_network(range));
    }
    return networks;
  }
  const auto network = parse_network(item);
  return network ? std::optional(Networks{*network}) : std::nullopt;
}

std::string without_bits_beyond(std::string_view item) {
  constexpr unsigned kWidest = 8;
  const auto written = parse_any_network(item);
  const bool dotted = item.find(':') == std::string_view::npos;
  if (!written || written->prefix < kWidest + (dotted ? kV4Start : 0)) return {};
  const Network meant{masked(written->address, written->prefix), written->prefix};
  return meant == *written ? "" : to_text(meant);
}

bool is_loopback(const Address& address) {
  static const auto loopback = parse_networks("loopback").value();
  return contains(loopback, address);
}

}  // namespace config
