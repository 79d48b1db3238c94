// The section "access" of the settings: its rules decide which requests of which clients are
// served.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/endpoint.hpp"
#include "config/networks.hpp"
#include "config/weekly_time.hpp"

namespace config {

struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;

  bool operator==(const PortRange&) const = default;
};

inline bool contains(const std::vector<PortRange>& ranges, std::uint16_t port) {
  return std::any_of(ranges.begin(), ranges.end(), [port](const PortRange& range) {
    return range.first <= port && port <= range.last;
  });
}

// Allows or denies the requests that meet all its conditions. An empty list is no condition.
// proxy/policy/access_rules.hpp has the details.
struct AccessRule {
  std::string name;  // a token, in Cache-Status and the log
  bool allows = false;
  Networks clients;
  std::vector<HostSpec> to;
  std::vector<PortRange> ports;
  std::vector<std::string> methods;
  std::vector<std::string> schemes;  // "http", "https"
  std::vector<WeeklyTime> times;
  std::vector<std::string> users;  // names; "*": every user

  bool operator==(const AccessRule&) const = default;
};

// Users, who prove themselves by a password (Basic, RFC 7617).
struct UserSettings {
  std::string file;  // of names and hashed passwords, as htpasswd writes it
  std::string realm = "Hearsay";
  bool cleartext = false;  // passwords may cross the network unencrypted

  bool operator==(const UserSettings&) const = default;
};

// Paths of files that list hosts, URL prefixes and addresses (proxy/lists/read.hpp).
struct ListPaths {
  std::vector<std::string> block;  // refused to every client
  std::vector<std::string> allow;  // exceptions from `block`

  bool operator==(const ListPaths&) const = default;
};

struct AccessSettings {
  // The first rule whose conditions a request meets decides. If no rule does, `clients` decides.
  std::vector<AccessRule> rules;
  // The users that rules may name. None: no rule names users.
  std::optional<UserSettings> users = std::nullopt;
  Networks clients;          // may use the proxy
  Networks monitor;          // may read /, /digest, /health, /metrics
  Networks admin;            // may change state; may read the digests too
  Networks peers;            // may read the digests although we do not ask them
  Networks deny_to;          // no client's request may reach these, whatever name leads there
  bool deny_to_self = true;  // nor this machine's own interfaces; part of "loopback"
  // Names of this proxy, beside its host name and the setting `name`: our own pages answer under
  // them. In lower case.
  std::vector<std::string> own_names;
  std::vector<PortRange> connect_ports{{443, 443}};
  std::vector<HostSpec> direct;  // /proxy.pac has clients ask these hosts themselves
  ListPaths lists;               // the settings `block` and `allow`

  AccessSettings();
  bool operator==(const AccessSettings&) const = default;
};

}  // namespace config
