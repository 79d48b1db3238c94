#include "proxy/command/squid/networks.hpp"

#include <algorithm>

#include "config/text.hpp"

namespace proxy::command::squid {
namespace {

using config::Address;
using config::Network;
using config::Networks;

constexpr unsigned kV4 = 96;  // the bits before an IPv4 address in its mapped form

bool bit(const Address& address, unsigned at) {
  return (address[at / 8] >> (7 - at % 8) & 1) != 0;
}

void flip(Address& address, unsigned at) {
  address[at / 8] = static_cast<std::uint8_t>(address[at / 8] ^ (1U << (7 - at % 8)));
}

Address without_host_bits(Address address, unsigned prefix) {
  for (unsigned at = prefix; at < 128; ++at) {
    if (bit(address, at)) flip(address, at);
  }
  return address;
}

// A prefix's length, or a mask such as "255.255.255.0" whose ones come first.
std::optional<unsigned> parse_prefix(std::string_view text, bool v4) {
  const unsigned first = v4 ? kV4 : 0;
  if (const auto length = config::parse_number(text, 128 - first)) {
    return first + static_cast<unsigned>(*length);
  }
  const auto mask = config::parse_address(text);
  if (!mask || config::is_v4(*mask) != v4) return std::nullopt;
  unsigned prefix = first;
  while (prefix < 128 && bit(*mask, prefix)) ++prefix;
  return without_host_bits(*mask, prefix) == *mask ? std::optional(prefix) : std::nullopt;
}

// The fewest networks that together are the addresses from `first` to `last`.
Networks range(Address first, const Address& last) {
  Networks networks;
  while (first <= last) {
    unsigned prefix = 128;
    const unsigned least = config::is_v4(first) ? kV4 : 0;
    const auto end_of = [&first](unsigned length) {
      Address end = first;
      for (unsigned at = length; at < 128; ++at) {
        if (!bit(end, at)) flip(end, at);
      }
      return end;
    };
    while (prefix > least && !bit(first, prefix - 1) && end_of(prefix - 1) <= last) --prefix;
    networks.push_back({first, prefix});
    first = end_of(prefix);
    unsigned at = 128;  // the next address: the carry runs to the left
    while (at > 0 && bit(first, at - 1)) flip(first, --at);
    if (at == 0) break;
    flip(first, at - 1);
  }
  return networks;
}

std::optional<Networks> parse_range(std::string_view text, std::size_t dash,
                                    std::string_view prefix_text) {
  const auto first = config::parse_address(text.substr(0, dash));
  auto last = config::parse_address(text.substr(dash + 1));
  if (!first || !last || config::is_v4(*first) != config::is_v4(*last)) return std::nullopt;
  unsigned prefix = 128;
  if (!prefix_text.empty()) {
    const auto told = parse_prefix(prefix_text, config::is_v4(*first));
    if (!told) return std::nullopt;
    prefix = *told;
  }
  for (unsigned at = prefix; at < 128; ++at) {
    if (!bit(*last, at)) flip(*last, at);
  }
  const auto begin = without_host_bits(*first, prefix);
  if (*last < begin) return std::nullopt;
  return range(begin, *last);
}

const Network kAllV4{config::address_from_v4({0, 0, 0, 0}), kV4};
const Network kAllV6{Address{}, 0};

}  // namespace

std::optional<Networks> parse_addresses(std::string_view text) {
  if (text == "all") return Networks{kAllV4, kAllV6};
  if (text == "ipv4") return Networks{kAllV4};
  if (text == "ipv6") return Networks{kAllV6};
  const auto slash = text.find('/');
  const auto address_text = text.substr(0, slash);
  const auto prefix_text = slash == text.npos ? std::string_view() : text.substr(slash + 1);
  if (slash != text.npos && prefix_text.empty()) return std::nullopt;
  if (const auto dash = address_text.find('-'); dash != text.npos) {
    return parse_range(address_text, dash, prefix_text);
  }
  const auto address = config::parse_address(address_text);
  if (!address) return std::nullopt;
  unsigned prefix = 128;
  if (slash != text.npos) {
    const auto told = parse_prefix(prefix_text, config::is_v4(*address));
    if (!told) return std::nullopt;
    prefix = *told;
  }
  return Networks{{without_host_bits(*address, prefix), prefix}};
}

bool is_every_address(const Networks& networks) {
  const auto has = [&](const Network& all) {
    return std::find(networks.begin(), networks.end(), all) != networks.end();
  };
  return has(kAllV4) && has(kAllV6);
}

Networks simplified(const Networks& networks) {
  Networks kept;
  for (const Network& network : networks) {
    const auto within = [&](const Network& other) { return covers(other, network); };
    if (std::any_of(kept.begin(), kept.end(), within)) continue;
    std::erase_if(kept, [&](const Network& other) { return covers(network, other); });
    kept.push_back(network);
  }
  return kept;
}

}  // namespace proxy::command::squid
