// TLS in front of an origin on loopback: takes TLS connections, and passes their bytes on to a
// plain port and back.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <thread>

#include "tests/support/certificates.hpp"
#include "tests/support/socket.hpp"

namespace support {

// Each connection has a thread. A connection whose handshake fails is closed.
class TlsFront {
 public:
  // `alternative_name`: of the certificate, such as "IP:127.0.0.1". `to`: the plain port.
  TlsFront(const Authority& authority, const std::string& alternative_name, std::uint16_t to,
           Listener listener = Listener());
  TlsFront(const TlsFront&) = delete;
  TlsFront& operator=(const TlsFront&) = delete;
  ~TlsFront() { stop(); }

  std::uint16_t port() const { return listener_.port(); }
  // Refuses connections from now on, and ends those that there are.
  void stop();
  std::string authority() const { return "127.0.0.1:" + std::to_string(port()); }
  std::string url(std::string_view path) const {
    return "https://" + authority() + std::string(path);
  }

 private:
  void accept_all();
  void serve(int connection);

  boost::asio::ssl::context context_;
  const std::uint16_t to_;
  Listener listener_;
  int wake_[2];  // a pipe whose end tells all threads to end
  std::list<std::jthread> connections_;
  std::thread acceptor_;
};

}  // namespace support
