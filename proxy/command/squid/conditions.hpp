// What an access rule requires of a request, and the addresses that acls name. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/networks.hpp"

namespace proxy::command::squid {

struct Ports {
  unsigned first = 0;
  unsigned last = 0;

  bool operator==(const Ports&) const = default;
};

struct Hours {
  unsigned days = 0x7f;    // bit 0 is Monday
  unsigned begin = 0;      // minutes after midnight
  unsigned end = 24 * 60;  // likewise; later than `begin`

  bool operator==(const Hours&) const = default;
};

// A request meets the conditions if it meets each list that is present. No list is empty.
struct Conditions {
  std::optional<config::Networks> clients;
  std::optional<std::vector<std::string>> to;  // "example.com", "*.example.com"
  std::optional<std::vector<Ports>> ports;
  std::optional<std::vector<std::string>> methods;
  std::optional<std::vector<std::string>> schemes;  // "http", "https"
  std::optional<std::vector<Hours>> hours;
  std::optional<std::vector<std::string>> users;  // {"*"}: every user

  bool operator==(const Conditions&) const = default;
  [[nodiscard]] bool is_always() const { return *this == Conditions{}; }
};

// A request has to meet one of these.
using Alternatives = std::vector<Conditions>;

// Whether the hosts of the pattern `narrow` are among those of `wide`: "example.com",
// "*.example.com", "*".
bool covers_host(std::string_view wide, std::string_view narrow);

// The requests that meet both. Nothing: no request does.
std::optional<Conditions> both(const Conditions& a, const Conditions& b);

// The ports from 1 to 65535 that are not among these.
std::vector<Ports> other_ports(std::vector<Ports> ports);

// "all", "10.0.0.0/8", "10.0.0.0/255.0.0.0", "10.0.0.1-10.0.0.9", "10.0.0.0-10.0.9.0/24", "ipv4",
// "ipv6" or an address. As in Squid, bits beyond the prefix are dropped. Nothing: a name, or no
// address at all.
std::optional<config::Networks> parse_addresses(std::string_view text);

bool is_every_address(const config::Networks& networks);

// Without networks that others of the list contain.
config::Networks simplified(const config::Networks& networks);

}  // namespace proxy::command::squid
