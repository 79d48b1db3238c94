// What an access rule requires of a request. Pure.
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

}  // namespace proxy::command::squid
