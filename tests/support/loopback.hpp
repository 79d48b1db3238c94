// An io_context like that of a worker thread, and connections within it, for tests of coroutines.
#pragma once

#include <utility>

#include "proxy/net/deadlines.hpp"
#include "tests/support/run.hpp"

namespace support {

// An io_context with the Deadlines of a worker thread.
struct Loop {
  boost::asio::io_context io{1};
  proxy::net::Deadlines deadlines{io.get_executor()};

  Loop() { deadlines.start(); }
};

inline proxy::net::Acceptor listen_on(boost::asio::io_context& io, const char* host) {
  const proxy::net::tcp::endpoint any_port(boost::asio::ip::make_address(host), 0);
  return {io.get_executor(), any_port};
}

// Two ends of one connection on 127.0.0.1.
inline std::pair<proxy::net::Socket, proxy::net::Socket> connected_pair(
    boost::asio::io_context& io) {
  auto acceptor = listen_on(io, "127.0.0.1");
  proxy::net::Socket near(io.get_executor());
  near.connect(acceptor.local_endpoint());
  return {std::move(near), acceptor.accept()};
}

inline void set_send_buffer(int descriptor, int bytes) {
  ::setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

inline void set_receive_buffer(int descriptor, int bytes) {
  ::setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

}  // namespace support
