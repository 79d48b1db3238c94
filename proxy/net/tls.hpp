// TLS of one connection: its session of OpenSSL, and the handshake, which comes before a Stream.
#pragma once

#include <openssl/types.h>
#include <chrono>
#include <memory>

#include "proxy/net/asio.hpp"
#include "proxy/net/deadlines.hpp"

namespace proxy::net {

struct FreeTls {
  void operator()(SSL* session) const;
  void operator()(SSL_CTX* context) const;
};
using TlsSession = std::unique_ptr<SSL, FreeTls>;      // null: the connection is plain
using TlsContext = std::unique_ptr<SSL_CTX, FreeTls>;  // sessions keep what they need of it

// Sets what the sessions of each context need: Stream writes records one by one, an idle session
// holds no buffers, and TLS 1.2 is the least version. From the first call on, the process ignores
// SIGPIPE.
void set_modes(SSL_CTX* context);

// The time before the first request of a connection, or before its first use of TLS. Bounded by one
// deadline. The socket and the deadlines outlive it. Belongs to one coroutine.
class Opening final : public Watched {
 public:
  Opening(Socket& socket, Deadlines& deadlines, std::chrono::milliseconds longest);

  // Waits until the socket can be read, or written. After the deadline and after end(), the result
  // is asio::error::timed_out.
  Task<error_code> wait(Socket::wait_type what);
  // Carries out the handshake, in the role that the session has (SSL_set_accept_state() or
  // SSL_set_connect_state()). The session then reads and writes this socket's descriptor.
  Task<error_code> shake_hands(SSL* session);
  // Ends the wait as if the deadline had passed. Other coroutines of the thread may call this, too.
  void end();

 private:
  void on_expiry() override { end(); }

  Socket& socket_;
  bool ended_ = false;
};

// What the calls of OpenSSL after clear_tls_errors() came to, the last of which has returned
// `result`. The error is asio::error::would_block if the call has to be repeated once the socket is
// ready; asio::error::eof after a close_notify; asio::ssl::error::stream_truncated if the
// connection was cut.
void clear_tls_errors();
error_code tls_error(const SSL* session, int result);

}  // namespace proxy::net
