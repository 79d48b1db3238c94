// A server that answers as badly as a bench likes: an origin, or a neighbour.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/incoming.hpp"
#include "tests/support/socket.hpp"

namespace bench {

// One request, and the connection to play the answer on.
struct Call {
  support::Socket& socket;
  const support::Request& request;
  std::uint64_t number;  // of the requests that are not for digests, from 0
  std::stop_token stop;
};

// Returns whether the connection may go on. Called on the connection's own thread.
using Answer = std::function<bool(const Call&)>;

// False if the server ends meanwhile.
bool pause(const Call& call, std::chrono::milliseconds time);

// The X-Cache of a neighbour that is played: its name, as its digest names it too.
inline constexpr const char* kSignature = "HIT from played";

// One thread for each connection. Destroy the proxy first, because it has opened the connections.
class PlayedServer {
 public:
  // `digest`: the body of its digest in Squid's form; empty if it is no neighbour.
  PlayedServer(Answer answer, std::string digest, int backlog = 128,
               support::Reach reach = support::Reach::loopback);
  PlayedServer(const PlayedServer&) = delete;
  PlayedServer& operator=(const PlayedServer&) = delete;
  ~PlayedServer();

  std::uint16_t port() const { return listener_.port(); }
  // Without those for digests.
  std::uint64_t requests() const { return requests_; }

  // As if its process was killed: open connections end, and new ones are refused. Once at most.
  void end();
  // From now on SYNs to the port are dropped; connections that are open stay. Needs a backlog of 1.
  void become_black_hole();

 private:
  struct Connection {
    support::Socket socket;
    std::jthread thread = {};
  };

  void accept_all();
  void serve(support::Socket& socket, const std::stop_token& stop);
  bool answer(const Call& call);

  const Answer answer_;
  const std::string digest_;
  std::atomic<std::uint64_t> requests_ = 0;
  std::atomic<bool> is_black_hole_ = false;
  support::Listener listener_;
  std::mutex mutex_;  // guards connections_
  std::list<Connection> connections_;
  std::vector<support::Descriptor> in_backlog_;
  std::thread acceptor_;
};

}  // namespace bench
