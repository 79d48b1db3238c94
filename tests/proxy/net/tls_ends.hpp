// The two ends of a TLS connection on loopback, after the handshake.
#pragma once

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <memory>

#include "proxy/net/stream.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/loopback.hpp"

namespace proxy::net {

namespace ssl = asio::ssl;

inline Task<error_code> shake(Stream::Tls& tls, ssl::stream_base::handshake_type side) {
  const auto [error] = co_await tls.async_handshake(side, as_result);
  co_return error;
}

struct TlsEnds : support::Loop {
  TlsEnds() {
    auto [near_socket, far_socket] = support::connected_pair(io);
    auto client = std::make_unique<Stream::Tls>(std::move(near_socket), client_context);
    auto server = std::make_unique<Stream::Tls>(std::move(far_socket), server_context);
    SSL_set_num_tickets(server->native_handle(), 0);
    net::spawn(io.get_executor(), shake(*server, ssl::stream_base::server));
    EXPECT_FALSE(support::run(io, shake(*client, ssl::stream_base::client)));
    near = std::make_unique<Stream>(std::move(client), deadlines);
    far = std::make_unique<Stream>(std::move(server), deadlines);
    io.restart();
    io.poll();  // the server's last step
  }

  ssl::context client_context{ssl::context::tls_client};
  ssl::context server_context = support::Authority().server("DNS:far.test");
  std::unique_ptr<Stream> near;
  std::unique_ptr<Stream> far;
};

}  // namespace proxy::net
