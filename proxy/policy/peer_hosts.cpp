#include "proxy/policy/peer_hosts.hpp"

#include <algorithm>

namespace proxy {

bool matches_any(std::span<const HostPattern> patterns, const http::Target& target) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const HostPattern& pattern) {
    return pattern.matches(target.host(), target.port());
  });
}

std::vector<HostPattern> host_patterns(std::span<const config::HostSpec> written) {
  return {written.begin(), written.end()};
}

PeerHosts::PeerHosts(std::span<const config::PeerSettings> peers) {
  for (const auto& peer : peers) {
    hosts_.push_back({host_patterns(peer.hosts), host_patterns(peer.not_for)});
  }
}

bool PeerHosts::may_ask(std::size_t peer, const http::Target& target) const {
  const auto& [only, never] = hosts_[peer];
  return (only.empty() || matches_any(only, target)) && !matches_any(never, target);
}

}  // namespace proxy
