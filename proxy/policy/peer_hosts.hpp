// Which peers may be asked for which hosts: the settings `for` and `not_for` of the peers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "config/settings.hpp"
#include "proxy/http/host_pattern.hpp"
#include "proxy/http/target.hpp"

namespace proxy {

// Whether a pattern matches the host of the target. Pure.
bool matches_any(std::span<const HostPattern> patterns, const http::Target& target);
std::vector<HostPattern> host_patterns(std::span<const config::HostSpec> written);

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

}  // namespace proxy
