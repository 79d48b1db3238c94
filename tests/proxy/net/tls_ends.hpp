// The two ends of a TLS connection on loopback, after the handshake.
#pragma once

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <boost/asio/ssl/context.hpp>
#include <exception>
#include <memory>

#include "proxy/net/stream.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/loopback.hpp"

namespace proxy::net {

namespace ssl = asio::ssl;

// Ends with a Stream, or with null if the handshake fails.
inline Task<std::unique_ptr<Stream>> shake(Socket socket, Deadlines& deadlines,
                                           TlsSession session) {
  Opening opening(socket, deadlines, std::chrono::seconds(10));
  const auto error = co_await opening.shake_hands(session.get());
  if (error) co_return nullptr;
  co_return std::make_unique<Stream>(std::move(socket), deadlines, std::move(session));
}

inline TlsSession client_session(ssl::context& context) {
  set_modes(context.native_handle());
  TlsSession session(SSL_new(context.native_handle()));
  SSL_set_connect_state(session.get());
  return session;
}

inline TlsSession server_session(ssl::context& context) {
  set_modes(context.native_handle());
  SSL_CTX_set_num_tickets(context.native_handle(), 0);
  TlsSession session(SSL_new(context.native_handle()));
  SSL_set_accept_state(session.get());
  return session;
}

// The two ends, on the loop of the caller.
struct TlsPair {
  TlsPair(asio::io_context& io, Deadlines& deadlines) {
    auto [near_socket, far_socket] = support::connected_pair(io);
    const auto done = [this](const std::exception_ptr&, std::unique_ptr<Stream> stream) {
      far = std::move(stream);
    };
    auto server = server_session(server_context);
    net::spawn(io.get_executor(), shake(std::move(far_socket), deadlines, std::move(server)), done);
    auto client = client_session(client_context);
    near = support::run(io, shake(std::move(near_socket), deadlines, std::move(client)));
    io.restart();
    while (!far && io.run_one() > 0) continue;  // the server's last step
    EXPECT_TRUE(near && far);
  }

  ssl::context client_context{ssl::context::tls_client};
  ssl::context server_context = support::Authority().server("DNS:far.test");
  std::unique_ptr<Stream> near;
  std::unique_ptr<Stream> far;
};

struct TlsEnds : support::Loop, TlsPair {
  TlsEnds() : TlsPair(io, deadlines) {}
};

}  // namespace proxy::net
