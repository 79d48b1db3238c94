#include "config/access_list.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "config/access_rule_list.hpp"
#include "config/text.hpp"

namespace config {

namespace {

using Words = NetworkWords;

// What a typing mistake may have meant. A suggestion must not open the proxy, so "any" and "all"
// are not among them.
constexpr std::array<std::string_view, 4> kNames{"loopback", "private", "link-local", "metadata"};

void append(Networks& to, const Networks& more) {
  to.insert(to.end(), more.begin(), more.end());
}

bool has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::optional<NetworkWords> read_networks(Section& in, std::string_view key, Networks& into) {
  constexpr std::string_view kForm =
      "\"loopback\", \"private\", \"link-local\", \"metadata\", \"any\" or \"all\", an address or "
      "a range like \"10.0.0.0/8\" (no bits set beyond its prefix)";
  const auto items = in.items(key, "named sets, addresses and ranges, such as \"private\"");
  if (!items) return std::nullopt;
  into.clear();
  Words understood;
  for (const LocatedValue& item : *items) {
    const auto* text = std::get_if<std::string>(&item.value->content);
    const auto networks = text ? parse_networks(*text) : std::nullopt;
    if (networks) {
      append(into, *networks);
      understood.push_back(*text);
    } else if (const auto meant = text ? without_bits_beyond(*text) : ""; !meant.empty()) {
      in.fault(item, "has bits set beyond its prefix: " + in_quotes(*text) + "; did you mean " +
                         in_quotes(meant) + '?');
    } else {
      in.expected(item, kForm, kNames);
    }
  }
  return understood;
}

namespace {

// The words protect more than their addresses: "loopback" covers all addresses of this machine, and
// "link-local" covers metadata services, most of which live there.
void read_deny_to(Section& in, AccessSettings& access) {
  const auto words = read_networks(in, "deny_to", access.deny_to);
  if (!words) return;
  access.deny_to_self = has(*words, "loopback");
  if (has(*words, "link-local")) append(access.deny_to, *parse_networks("metadata"));
}

void read_connect_ports(Section& in, std::vector<PortRange>& ports) {
  const auto items = in.items("connect_ports", "ports, such as 443 or \"8000-8999\"");
  if (!items) return;
  ports.clear();
  for (const LocatedValue& item : *items) {
    if (const auto range = read_port_range(in, item)) ports.push_back(*range);
  }
}

void read_direct(Section& in, std::vector<HostSpec>& hosts) {
  constexpr std::size_t kMost = 256;
  const auto items = in.items("direct", "hosts, such as \"*.example.com\"", kMost);
  if (!items) return;
  for (const LocatedValue& item : *items) {
    const auto host = in.host_pattern(item);
    if (!host) continue;
    if (host->port || host->host == "*") {
      in.fault(item, "expected a host like \"*.example.com\", without port");
    } else {
      hosts.push_back(*host);
    }
  }
}

void read_own_names(Section& in, std::vector<std::string>& names) {
  const auto items = in.items("own_names", "host names, such as \"cache-a.example.com\"");
  if (!items) return;
  names.clear();
  for (const LocatedValue& item : *items) {
    const auto host = in.host_pattern(item);
    if (!host) continue;
    if (host->port || host->host.starts_with('*')) {
      in.fault(item, "expected a host name without port and without \"*\"");
    } else {
      names.push_back(host->host);
    }
  }
}

void read_paths(Section& in, std::string_view key, std::vector<std::string>& paths) {
  const auto items = in.items(key, "paths of files");
  if (!items) return;
  paths.clear();
  for (const LocatedValue& item : *items) {
    const auto* text = std::get_if<std::string>(&item.value->content);
    if (text && !text->empty() && text->find('\0') == std::string::npos) {
      paths.push_back(*text);
    } else {
      in.expected(item, "the path of a file");
    }
  }
}

bool is_realm(std::string_view text) {
  constexpr std::size_t kLongest = 128;
  return text.size() <= kLongest && std::all_of(text.begin(), text.end(), [](char c) {
           return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
         });
}

void read_users(Section& in, std::optional<UserSettings>& users) {
  const auto found = in.find("users");
  if (!found) return;
  constexpr std::string_view kFile = "the path of a file as htpasswd writes it";
  Section part(*found, in.faults());
  auto& told = users.emplace();
  if (part.is_object() && part.require("file", kFile)) part.read_text("file", told.file, kFile);
  constexpr std::string_view kRealm =
      "what is shown to a user, of at most 128 ASCII characters without quotes and backslashes";
  part.read_text("realm", told.realm, kRealm);
  if (!is_realm(told.realm)) part.expected(*part.find("realm"), kRealm);
  part.read("cleartext", told.cleartext);
  part.finish();
}

// An operator who lists the clients that may use the proxy means the whole list. The default of
// `clients` would let in others, so it does not apply beside such a list.
void leave_no_default(Section& in, AccessSettings& access) {
  const bool allows = std::any_of(access.rules.begin(), access.rules.end(),
                                  [](const AccessRule& rule) { return rule.allows; });
  if (allows && !in.find("clients")) access.clients.clear();
}

}  // namespace

void read_access(Section& in, AccessSettings& access) {
  read_access_rules(in, access.rules);
  read_users(in, access.users);
  leave_no_default(in, access);
  read_networks(in, "clients", access.clients);
  read_networks(in, "monitor", access.monitor);
  read_networks(in, "admin", access.admin);
  read_networks(in, "peers", access.peers);
  read_deny_to(in, access);
  read_connect_ports(in, access.connect_ports);
  read_own_names(in, access.own_names);
  read_direct(in, access.direct);
  read_paths(in, "block", access.block);
  read_paths(in, "allow", access.allow);
}

}  // namespace config
