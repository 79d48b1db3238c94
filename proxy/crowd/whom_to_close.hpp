// Which connections are closed to make room for a new one. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "config/networks.hpp"

namespace proxy {

// A connection that waits for a request, or for the rest of a request's head.
struct Waiting {
  using Time = std::chrono::steady_clock::time_point;

  config::Address client{};     // as counted_as() gives it
  std::size_t connections = 0;  // of this client
  bool idle = false;            // no byte of a request has come
  Time since{};
};

// A new connection for which there is no room.
struct Newcomer {
  // The limit that it has met, so the connections of which one must end.
  enum class Place : std::uint8_t {
    own,      // of the same client
    network,  // of a client of the same network: see network_of()
    others,   // of a client that has more connections
  };
  config::Address client{};     // as counted_as() gives it
  std::size_t connections = 0;  // of this client already
  Place place = Place::others;
  // Clients that have fewer connections than this are spared.
  std::size_t spared_below = 0;
};

// Returns the indices of the connections to close, all of one client: of those in question the one
// that has most connections. Idle connections come before those with a part of a head, older ones
// before newer ones. Closes up to a 64th of the client's connections at once, so that many
// newcomers cost few searches. Empty: no connection may be closed.
std::vector<std::size_t> whom_to_close(std::span<const Waiting> waiting, const Newcomer& newcomer);

}  // namespace proxy
