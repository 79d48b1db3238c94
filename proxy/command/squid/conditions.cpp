#include "proxy/command/squid/conditions.hpp"

#include <algorithm>

#include "config/text.hpp"

namespace proxy::command::squid {
namespace {

using config::Address;
using config::Network;
using config::Networks;

constexpr unsigned kV4 = 96;  // the bits before an IPv4 address in its mapped form

const Network kAllV4{config::address_from_v4({0, 0, 0, 0}), kV4};
const Network kAllV6{Address{}, 0};

// Sets or clears all bits from the number `first` on.
Address with_bits(Address address, unsigned first, bool set) {
  for (unsigned at = first; at < 128; ++at) {
    const auto bit = static_cast<std::uint8_t>(0x80U >> at % 8);
    auto& byte = address[at / 8];
    byte = static_cast<std::uint8_t>(set ? byte | bit : byte & ~bit);
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
  for (unsigned prefix = first; prefix <= 128; ++prefix) {
    const Address ones = with_bits(v4 ? kAllV4.address : Address{}, first, true);
    if (with_bits(ones, prefix, false) == *mask) return prefix;
  }
  return std::nullopt;
}

// Appends the networks that together are the addresses of `whole` from `first` to `last`.
void append_range(Networks& into, const Network& whole, const Address& first, const Address& last) {
  const Address end = with_bits(whole.address, whole.prefix, true);
  if (end < first || last < whole.address) return;
  if (first <= whole.address && end <= last) return into.push_back(whole);
  append_range(into, {whole.address, whole.prefix + 1}, first, last);
  append_range(into, {with_bits(end, whole.prefix + 1, false), whole.prefix + 1}, first, last);
}

// Returns the narrower one of two values if the other one covers it.
template <class T>
auto narrower(bool (*covers)(const T& wide, const T& narrow)) {
  return [covers](const T& a, const T& b) -> std::optional<T> {
    if (covers(a, b)) return b;
    return covers(b, a) ? std::optional(a) : std::nullopt;
  };
}

bool is_same(const std::string& a, const std::string& b) {
  return a == b;
}

bool covers_user(const std::string& wide, const std::string& narrow) {
  return wide == narrow || wide == "*";
}

bool covers_host_text(const std::string& wide, const std::string& narrow) {
  return covers_host(wide, narrow);
}

std::optional<Ports> common_ports(const Ports& a, const Ports& b) {
  const Ports both{std::max(a.first, b.first), std::min(a.last, b.last)};
  return both.first <= both.last ? std::optional(both) : std::nullopt;
}

std::optional<Hours> common_hours(const Hours& a, const Hours& b) {
  const Hours both{a.days & b.days, std::max(a.begin, b.begin), std::min(a.end, b.end)};
  return both.days != 0 && both.begin < both.end ? std::optional(both) : std::nullopt;
}

// Narrows the list `into` by `other`. Returns whether anything is left.
template <class T, class Common>
bool narrow(std::optional<std::vector<T>>& into, const std::optional<std::vector<T>>& other,
            const Common& common) {
  if (!other || into == other) return true;
  std::vector<T> all;
  for (const T& one : into ? *into : std::vector<T>{}) {
    for (const T& another : *other) {
      auto part = common(one, another);
      if (part && std::find(all.begin(), all.end(), *part) == all.end()) all.push_back(*part);
    }
  }
  into = into ? std::move(all) : *other;
  return !into->empty();
}

}  // namespace

bool covers_host(std::string_view wide, std::string_view narrow) {
  return wide == narrow || wide == "*" ||
         (wide.starts_with("*.") && narrow.ends_with(wide.substr(1)));
}

std::optional<Conditions> both(const Conditions& a, const Conditions& b) {
  Conditions all = a;
  const auto same = narrower(is_same);
  const bool possible =
      narrow(all.clients, b.clients, narrower(config::covers)) &&
      narrow(all.to, b.to, narrower(covers_host_text)) &&
      narrow(all.ports, b.ports, common_ports) && narrow(all.methods, b.methods, same) &&
      narrow(all.schemes, b.schemes, same) && narrow(all.hours, b.hours, common_hours) &&
      narrow(all.users, b.users, narrower(covers_user));
  return possible ? std::optional(std::move(all)) : std::nullopt;
}

std::vector<Ports> other_ports(std::vector<Ports> ports) {
  std::sort(ports.begin(), ports.end(),
            [](const Ports& a, const Ports& b) { return a.first < b.first; });
  std::vector<Ports> others;
  unsigned next = 1;
  for (const Ports& range : ports) {
    if (range.first > next) others.push_back({next, range.first - 1});
    next = std::max(next, range.last + 1);
  }
  if (next <= 65'535) others.push_back({next, 65'535});
  return others;
}

std::optional<Networks> parse_addresses(std::string_view text) {
  if (text == "all") return Networks{kAllV4, kAllV6};
  if (text == "ipv4") return Networks{kAllV4};
  if (text == "ipv6") return Networks{kAllV6};
  const auto slash = text.find('/');
  const auto range = text.substr(0, slash);
  const auto dash = range.find('-');
  const auto first = config::parse_address(range.substr(0, dash));
  const auto last = dash == range.npos ? first : config::parse_address(range.substr(dash + 1));
  if (!first || !last || config::is_v4(*first) != config::is_v4(*last)) return std::nullopt;
  const bool v4 = config::is_v4(*first);
  const auto prefix =
      slash == text.npos ? std::optional(128U) : parse_prefix(text.substr(slash + 1), v4);
  if (!prefix) return std::nullopt;
  const auto begin = with_bits(*first, *prefix, false);
  const auto end = with_bits(*last, *prefix, true);
  Networks networks;
  append_range(networks, v4 ? kAllV4 : kAllV6, begin, end);
  return end < begin ? std::nullopt : std::optional(std::move(networks));
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
