// All bytes that arrive on a connection until its end.
#pragma once

#include <boost/asio/read.hpp>
#include <string>

#include "proxy/net/asio.hpp"

namespace proxy {

inline std::string received_by(net::Socket& socket) {
  std::string text;
  net::error_code end;
  net::asio::read(socket, net::asio::dynamic_buffer(text), end);
  return text;
}

}  // namespace proxy
