// Proxies on loopback that are all neighbours of each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "tests/support/proxy_process.hpp"

namespace bench {

// The defaults, except what a bench on loopback needs.
support::json mesh_settings(const std::string& name, const support::json& peers);

support::json peer(const std::string& name, std::uint16_t port);

// Proxies "0", "1", ..., which are also neighbours of so many ports at which nobody listens. The
// constructor returns once all use the digests of all others.
struct FullMesh {
  explicit FullMesh(std::size_t count, std::size_t nobody = 0);

  bool is_complete() const;

  std::deque<support::Listener> listeners;
  std::deque<support::ReservedPort> dead;
  std::deque<support::ProxyProcess> proxies;
};

}  // namespace bench
