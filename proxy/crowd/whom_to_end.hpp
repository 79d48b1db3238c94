// Which connections are closed to make room for a new one, and which responses, or requests with
// large heads, are cut when memory is short. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "config/networks.hpp"

namespace proxy::crowd {

// A connection that waits for a request, or for the rest of a request's head.
struct WaitingConnection {
  using Time = std::chrono::steady_clock::time_point;

  config::Address client{};     // as counted_as() gives it
  std::size_t connections = 0;  // of this client
  bool idle = false;            // no byte of a request has come
  Time since{};
};

// A new connection for which there is no room.
struct Newcomer {
  // The limit that it has met, so the connections of which one must end.
  enum class Shortage : std::uint8_t {
    own,      // of the same client
    network,  // of a client of the same network: see network_of()
    others,   // of a client that has more connections
  };
  config::Address client{};     // as counted_as() gives it
  std::size_t connections = 0;  // of this client already
  Shortage shortage = Shortage::others;
  // Clients that have fewer connections than this are spared.
  std::size_t spared_below = 0;
};

// Returns the indices of the connections to close. All are of one client: the one with most
// connections among those from which Newcomer::shortage lets a connection be taken. Its idle
// connections come before those with a part of a head, and older ones before newer ones. Closes up
// to a 64th of the client's connections at once, so that many newcomers cost few searches. Empty:
// no connection may be closed.
std::vector<std::size_t> whom_to_close(std::span<const WaitingConnection> waiting,
                                       const Newcomer& newcomer);

// The memory that a response takes while its client does not read on.
struct Unread {
  using Time = std::chrono::steady_clock::time_point;

  std::uint64_t bytes = 0;
  // The part of these bytes that a cut gives back to the memory that is short.
  std::uint64_t freed = 0;
  Time since{};            // the last time at which it got on
  bool by_client = false;  // the client does not read; else the source does not send
};

struct ClientShare;

// A response under way, and what its client holds in all.
struct Holder {
  const ClientShare* client = nullptr;
  // The unread bytes of all responses to the client, on all threads (Unread).
  std::uint64_t client_bytes = 0;
  std::uint64_t client_freed = 0;
  Unread unread;
};

// The memory that is to be released.
struct Need {
  using Duration = std::chrono::steady_clock::duration;

  // A response without progress for this time counts as stalled.
  static constexpr std::chrono::seconds kStalled{5};

  // Stalled responses of a client that holds more than this are cut, whatever `freed` says.
  std::uint64_t per_client = 0;
  std::uint64_t freed = 0;  // so much of the memory that is short
  // How much of this memory the client holds that holds most, on all threads.
  std::uint64_t most = 0;
  // To free memory, a response may be cut if for this time its client has read nothing, or its
  // source has sent hardly anything.
  Duration patience = kStalled;
  Duration patience_with_sources = kStalled;
};

// Returns the indices of the responses to cut. Each cut takes from the client that holds most, and
// of this client's responses the one that has not got on for the longest time; but responses whose
// clients do not read come before those whose sources do not send. If memory is
// needed, no response of a client that holds little is cut. A client holds little if it has less
// than half of `Need::most`, which counts the responses of all threads.
std::vector<std::size_t> whom_to_cut(std::span<const Holder> holders, const Need& need,
                                     Unread::Time now);

}  // namespace proxy::crowd
