// TLS towards origins: who is trusted, and the verified handshake.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "proxy/net/stream.hpp"

namespace proxy::upstream {

// One per process, for all threads: reading the trust store takes longer than a handshake.
class TlsClient {
 public:
  // Trusts the system's store (SSL_CERT_FILE and SSL_CERT_DIR are heeded) and the certificates of
  // one more PEM file, if named. Throws boost::system::system_error if that cannot be read.
  explicit TlsClient(const std::string& extra_ca_file = {});

  // TLS 1.2 or later, ALPN http/1.1, SNI for names; the certificate must be valid now and for
  // `host` (a name or an IP address without brackets). Takes at most `timeout`.
  net::Task<net::Result<std::unique_ptr<net::Stream>>> handshake(net::Socket socket,
                                                                 std::string host,
                                                                 net::Deadlines& deadlines,
                                                                 std::chrono::milliseconds timeout);

 private:
  boost::asio::ssl::context context_;
};

}  // namespace proxy::upstream
