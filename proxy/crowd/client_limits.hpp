// How many connections and requests clients may have. Pure.
#pragma once

#include <algorithm>
#include <cstddef>

#include "config/settings.hpp"

namespace proxy {

// All addresses of one network together get three quarters at most: see network_of(). So the others
// have a quarter, and users who all share a network hardly notice.
constexpr std::size_t most_of_network(std::size_t all, std::size_t per_client) {
  return std::max(per_client, all - all / 4);
}

struct ConnectionLimits {
  std::size_t all = 0;
  std::size_t per_client = 0;

  [[nodiscard]] std::size_t per_network() const { return most_of_network(all, per_client); }
  // How many connections there may be beyond `all`, in two parts. One part is for clients that have
  // few, until connections of others are closed for them.
  [[nodiscard]] std::size_t swaps() const { return std::clamp<std::size_t>(all / 16, 1, 64); }
  // The other part is for those who watch over this proxy.
  [[nodiscard]] std::size_t reserve() const { return std::clamp<std::size_t>(all / 8, 2, 32); }
};

// Of requests under way.
struct RequestLimits {
  std::size_t per_client = 0;
  std::size_t per_network = 0;
};

// `allowed`: the most connections for which there are descriptors.
inline ConnectionLimits connection_limits(config::Limits limits, std::size_t allowed) {
  limits.connections = std::min(limits.connections, allowed);
  return {limits.connections, limits.most_connections_per_client()};
}

inline RequestLimits request_limits(config::Limits limits, std::size_t allowed) {
  limits.connections = std::min(limits.connections, allowed);
  const auto per_client = limits.most_requests_per_client();
  return {per_client, most_of_network(limits.connections, per_client)};
}

}  // namespace proxy
