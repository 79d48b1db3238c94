#include "proxy/command/squid/conditions.hpp"

#include <algorithm>
#include <array>

#include "config/text.hpp"

namespace proxy::command::squid {
namespace {

using config::Address;
using config::Network;

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
std::optional<unsigned> parse_prefix(std::string_view text, const Network& whole) {
  if (const auto length = config::parse_number(text, 128 - whole.prefix)) {
    return whole.prefix + static_cast<unsigned>(*length);
  }
  const auto mask = config::parse_address(text);
  const Address ones = with_bits(whole.address, whole.prefix, true);
  for (unsigned prefix = whole.prefix; mask && prefix <= 128; ++prefix) {
    // A mask with a gap fits no prefix: it is no network, and is left out.
    if (with_bits(ones, prefix, false) == *mask) return prefix;
  }
  return std::nullopt;
}

// Appends the networks that together are the addresses of `whole` from `first` to `last`.
void append_range(Values& into, const Network& whole, const Address& first, const Address& last) {
  const Address end = with_bits(whole.address, whole.prefix, true);
  if (end < first || last < whole.address) return;
  if (first <= whole.address && end <= last) return into.push_back(whole);
  // Halves what is only partly in the range, so that the networks are as few as can be.
  append_range(into, {whole.address, whole.prefix + 1}, first, last);
  append_range(into, {with_bits(end, whole.prefix + 1, false), whole.prefix + 1}, first, last);
}

// Of two values of one aspect, one covers the other, or they have nothing in common. Only ranges
// may overlap. An asterisk stands in names of hosts, and in the one user that means every user.
bool covers(const Value& wide, const Value& narrow) {
  const auto* const network = std::get_if<Network>(&wide);
  if (network) return config::covers(*network, std::get<Network>(narrow));
  return covers_host(std::get<std::string>(wide), std::get<std::string>(narrow));
}

std::optional<Value> common(const Value& a, const Value& b) {
  if (const auto* const range = std::get_if<Interval>(&a)) {
    const auto& other = std::get<Interval>(b);
    const Interval both{std::max(range->first, other.first), std::min(range->last, other.last),
                        range->days & other.days};
    return both.first <= both.last && both.days != 0 ? std::optional<Value>(both) : std::nullopt;
  }
  if (covers(a, b)) return b;
  return covers(b, a) ? std::optional(a) : std::nullopt;
}

std::string minute_text(unsigned minute) {
  const auto two = [](unsigned number) { return std::to_string(100 + number).substr(1); };
  return two(minute / 60) + ':' + two(minute % 60);
}

std::string days_text(unsigned days) {
  constexpr std::array<std::string_view, 7> kDays{"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
  std::string text;
  for (std::size_t day = 0; day < kDays.size(); ++day) {
    if ((days >> day & 1) == 0) continue;
    std::size_t last = day;
    while (last + 1 < kDays.size() && (days >> (last + 1) & 1) != 0) ++last;
    if (!text.empty()) text += ',';
    text.append(kDays[day]);
    if (last > day) text.append(last > day + 1 ? "-" : ",").append(kDays[last]);
    day = last;
  }
  return text;
}

// Squid counts the last minute, so that a time that is denied ends a minute after the full hour.
// One that is allowed ends at the hour, as it is meant.
std::string time_text(const Interval& time, Action action) {
  const bool shorten = action == Action::allow && time.last % 60 == 0 && time.last > time.first;
  const unsigned end = time.last + (shorten ? 0 : 1);
  std::string text = time.days == 0x7f ? "" : days_text(time.days);
  if (time.first == 0 && end == 24 * 60) return text.empty() ? "mon-sun" : text;
  if (!text.empty()) text += ' ';
  return text + minute_text(time.first) + '-' + minute_text(end);
}

std::string ports_text(const Interval& ports) {
  const std::string first = std::to_string(ports.first);
  return ports.first == ports.last ? first : first + '-' + std::to_string(ports.last);
}

}  // namespace

bool covers_host(std::string_view wide, std::string_view narrow) {
  return wide == narrow || wide == "*" ||
         (wide.starts_with("*.") && narrow.ends_with(wide.substr(1)));
}

std::optional<Conditions> both(Conditions a, const Conditions& b) {
  for (const auto& [aspect, others] : b) {
    // Without a condition on the aspect, all requests meet `a` there.
    const auto [at, is_new] = a.try_emplace(aspect, others);
    Values& values = at->second;
    // Lines often name one acl several times, and the loops below square the length of a list.
    if (is_new || values == others) continue;
    Values all;
    for (const Value& one : values) {
      for (const Value& other : others) {
        auto part = common(one, other);
        if (part && std::find(all.begin(), all.end(), *part) == all.end()) {
          all.push_back(std::move(*part));
        }
      }
    }
    if (all.empty()) return std::nullopt;
    values = std::move(all);
  }
  return a;
}

Values other_ports(Values ports) {
  std::sort(ports.begin(), ports.end(), [](const Value& a, const Value& b) {
    return std::get<Interval>(a).first < std::get<Interval>(b).first;
  });
  Values others;
  unsigned next = kAllPorts.first;
  for (const Value& each : ports) {
    const auto& range = std::get<Interval>(each);
    if (range.first > next) others.emplace_back(Interval{next, range.first - 1});
    // Not the end of this range alone: it may lie within an earlier one.
    next = std::max(next, range.last + 1);
  }
  if (next <= kAllPorts.last) others.emplace_back(Interval{next, kAllPorts.last});
  return others;
}

Values parse_addresses(std::string_view text) {
  if (text == "all") return {kAllV4, kAllV6};
  if (text == "ipv4") return {kAllV4};
  if (text == "ipv6") return {kAllV6};
  const auto slash = text.find('/');
  const auto range = text.substr(0, slash);
  const auto dash = range.find('-');
  const auto first = config::parse_address(range.substr(0, dash));
  const auto last = dash == range.npos ? first : config::parse_address(range.substr(dash + 1));
  if (!first || !last || config::is_v4(*first) != config::is_v4(*last)) return {};
  const Network& whole = config::is_v4(*first) ? kAllV4 : kAllV6;
  const auto prefix =
      slash == text.npos ? std::optional(128U) : parse_prefix(text.substr(slash + 1), whole);
  if (!prefix) return {};
  Values networks;
  append_range(networks, whole, with_bits(*first, *prefix, false), with_bits(*last, *prefix, true));
  return networks;
}

Values simplified(const Values& networks) {
  Values kept;
  for (const Value& network : networks) {
    const auto within = [&](const Value& other) { return covers(other, network); };
    if (std::any_of(kept.begin(), kept.end(), within)) continue;
    std::erase_if(kept, [&](const Value& other) { return covers(network, other); });
    kept.push_back(network);
  }
  return kept;
}

bool is_every_address(const Values& networks) {
  return std::count(networks.begin(), networks.end(), Value(kAllV4)) > 0 &&
         std::count(networks.begin(), networks.end(), Value(kAllV6)) > 0;
}

std::vector<std::string> texts_of(const Values& values, Aspect aspect, Action action) {
  if (is_every_address(values)) return {"any"};
  std::vector<std::string> texts;
  for (const Value& value : values) {
    if (const auto* const network = std::get_if<Network>(&value)) {
      texts.push_back(to_text(*network));
    } else if (const auto* const range = std::get_if<Interval>(&value)) {
      texts.push_back(aspect == Aspect::times ? time_text(*range, action) : ports_text(*range));
    } else {
      texts.push_back(std::get<std::string>(value));
    }
  }
  return texts;
}

}  // namespace proxy::command::squid
