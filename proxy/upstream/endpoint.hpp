// The address of a server that we connect to, and how far we trust the address.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace proxy::upstream {

enum class Trust {
  client,      // named by a client's URL: may not reach what `deny_to` or `block` lists
  allowed,     // like `client`, but listed in `allow`: exempt from `block`
  configured,  // named by the settings (peers, reverse origins): exempt from all lists
};

// The key of the connection pool. Equal endpoints may share connections, so trust is part of the
// key. The host is a name in lower case or an IP address without brackets.
struct Endpoint {
  bool tls = false;
  std::string host;
  std::uint16_t port = 80;
  Trust trust = Trust::client;

  bool operator==(const Endpoint&) const = default;
};

}  // namespace proxy::upstream

template <>
struct std::hash<proxy::upstream::Endpoint> {
  std::size_t operator()(const proxy::upstream::Endpoint& endpoint) const noexcept {
    const std::size_t rest = (std::size_t{endpoint.port} << 3U) |
                             (std::size_t{endpoint.tls} << 2U) |
                             static_cast<std::size_t>(endpoint.trust);
    return std::hash<std::string>{}(endpoint.host) ^ (rest * 0x9E3779B97F4A7C15U);
  }
};
