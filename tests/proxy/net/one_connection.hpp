// A pair of connected sockets, of which one is read by an Input.
#pragma once

#include <utility>

#include "proxy/net/input.hpp"
#include "tests/support/loopback.hpp"

namespace proxy::net {

struct OneConnection : support::Loop {
  std::pair<net::Socket, net::Socket> pair = support::connected_pair(io);
  net::Stream stream{std::move(pair.first), deadlines};
  net::Socket& far = pair.second;
  BufferPool pool;
  Input input{stream, pool};
};

}  // namespace proxy::net
