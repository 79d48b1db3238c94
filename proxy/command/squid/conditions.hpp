// What an access rule requires of a request, and the addresses that acls name. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/networks.hpp"

namespace proxy::command::squid {

// What a line asks about a request: first the members of a rule, in their order; then what other
// settings decide.
enum class Aspect : std::uint8_t {
  clients,
  to,
  ports,
  methods,
  schemes,
  times,
  users,
  destinations,  // addresses of origins, for deny_to; rules know hosts only
  pages,         // requests for the proxy's own pages, for monitor
};

// Ports, or minutes after midnight on the days whose bits are set (bit 0 is Monday).
struct Interval {
  unsigned first = 0;
  unsigned last = 0;  // part of the range
  unsigned days = 0x7f;

  bool operator==(const Interval&) const = default;
};

inline constexpr Interval kAllPorts{1, 65'535};

// Texts are hosts ("example.com", "*.example.com"), methods, schemes and users ("*": every user).
using Value = std::variant<config::Network, Interval, std::string>;
using Values = std::vector<Value>;

// A request meets the conditions if, for each aspect, it meets one of the values. No list is empty.
using Conditions = std::map<Aspect, Values>;

// A request has to meet one of these.
using Alternatives = std::vector<Conditions>;

// Whether the hosts of the pattern `narrow` are among those of `wide`: "example.com",
// "*.example.com", "*".
bool covers_host(std::string_view wide, std::string_view narrow);

// The requests that meet both. Nothing: no request does.
std::optional<Conditions> both(Conditions a, const Conditions& b);

// The ports from 1 to 65535 that are not among these.
Values other_ports(Values ports);

// "all", "10.0.0.0/8", "10.0.0.0/255.0.0.0", "10.0.0.1-10.0.0.9", "10.0.0.0-10.0.9.0/24", "ipv4",
// "ipv6" or an address. As in Squid, bits beyond the prefix are dropped. Empty: a name, or no
// address at all.
Values parse_addresses(std::string_view text);

// Returns the networks without those that others of the list contain.
Values simplified(const Values& networks);
bool is_every_address(const Values& networks);

// Whether a rule with these conditions allows or denies. A rule that allows may be written with a
// time that lacks the last minute; a rule that denies may not.
enum class Action : std::uint8_t { allow, deny };

// The values as the settings write them; "any" is every address.
std::vector<std::string> texts_of(const Values& values, Aspect aspect,
                                  Action action = Action::deny);

}  // namespace proxy::command::squid
