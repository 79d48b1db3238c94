// Hosts as the settings name them, compared with hosts as requests name them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "proxy/http/target.hpp"

namespace proxy::http {

// A name matches itself, "*.example.com" matches the hosts below example.com, and "*" matches every
// host. A pattern with a port matches only that port. Pure.
class HostPattern {
 public:
  explicit HostPattern(const config::HostSpec& written);

  // `host` is spelled as http::Target::host() does.
  [[nodiscard]] bool matches(std::string_view host, std::uint16_t port) const;

  // The pattern as the settings would spell it: config::parse_host_pattern() reads it.
  [[nodiscard]] std::string text() const;

  bool operator==(const HostPattern&) const = default;

 private:
  std::string host_;  // "*.example.com" is ".example.com" here, "*" is ""
  bool exact_;
  std::optional<std::uint16_t> port_;
};

// The host as requests spell it, since addresses have many forms. "*.example.com" becomes
// ".example.com", and "*" becomes "".
std::string canonical_pattern(const std::string& host);

// The canonical pattern "*.example.com", that is ".example.com", of the names with one label more,
// as certificates have it (RFC 6125 6.4.3). Empty if the host has no other label.
inline std::string_view one_label_pattern(std::string_view host) {
  const auto dot = host.find('.');
  return dot == host.npos || dot == 0 ? std::string_view() : host.substr(dot);
}

// Whether a pattern matches the host of the target. Pure.
bool matches_any(std::span<const HostPattern> patterns, const http::Target& target);
std::vector<HostPattern> host_patterns(std::span<const config::HostSpec> written);

// Which peers may be asked for which hosts: the settings `for` and `not_for` of the peers.
// Immutable: any thread.
class PeerHosts {
 public:
  explicit PeerHosts(std::span<const config::PeerSettings> peers);

  // `peer`: its number in the settings (peers::Peer::id).
  [[nodiscard]] bool may_ask(std::size_t peer, const http::Target& target) const;

 private:
  struct Hosts {
    std::vector<HostPattern> only;  // empty: all
    std::vector<HostPattern> never;
  };
  std::vector<Hosts> hosts_;  // by peer
};

}  // namespace proxy::http
