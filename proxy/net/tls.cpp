#include "proxy/net/tls.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <boost/asio/ssl/error.hpp>
#include <cerrno>
#include <csignal>

namespace proxy::net {

void FreeTls::operator()(SSL* session) const {
  SSL_free(session);
}

void FreeTls::operator()(SSL_CTX* context) const {
  SSL_CTX_free(context);
}

void set_modes(SSL_CTX* context) {
  // OpenSSL writes to sockets without MSG_NOSIGNAL.
  static const auto before = ::signal(SIGPIPE, SIG_IGN);
  static_cast<void>(before);
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // A record that waits is written again from another buffer, with the same bytes. Idle sessions
  // would keep some 34 KiB of buffers each.
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  // Else each record costs two system calls: one for its head, one for the rest.
  SSL_CTX_set_read_ahead(context, 1);
}

Opening::Opening(Socket& socket, Deadlines& deadlines, std::chrono::milliseconds longest)
    : Watched(deadlines), socket_(socket) {
  error_code ignored;
  socket.non_blocking(true, ignored);
  expires_after(longest);
}

void Opening::end() {
  ended_ = true;
  error_code ignored;
  socket_.cancel(ignored);
}

Task<error_code> Opening::wait(Socket::wait_type what) {
  if (ended_) co_return asio::error::timed_out;
  const auto [error] = co_await socket_.async_wait(what, as_result);
  // cancel() misses a wait that is over but not yet handled.
  if (ended_) co_return asio::error::timed_out;
  co_return error;
}

Task<error_code> Opening::shake_hands(SSL* session) {
  // The kernel can encrypt for a session only if OpenSSL knows its socket.
  if (SSL_set_fd(session, socket_.native_handle()) != 1) co_return asio::error::no_memory;
  for (;;) {
    clear_tls_errors();
    const int done = SSL_do_handshake(session);
    if (done == 1) co_return error_code{};
    const auto failed = tls_error(session, done);
    if (failed != asio::error::would_block) co_return failed;
    const auto what = SSL_want_write(session) ? Socket::wait_write : Socket::wait_read;
    const auto error = co_await wait(what);
    if (error) co_return error;
  }
}

void clear_tls_errors() {
  ERR_clear_error();
  errno = 0;
}

error_code tls_error(const SSL* session, int result) {
  const int cause = errno;  // before other calls change it
  const auto fault = ERR_peek_error();
  switch (SSL_get_error(session, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return asio::error::would_block;
    case SSL_ERROR_ZERO_RETURN:
      return asio::error::eof;
    case SSL_ERROR_SSL:
      // The other side has ended the connection without a close_notify, as an attacker could.
      if (ERR_GET_REASON(fault) != SSL_R_UNEXPECTED_EOF_WHILE_READING)
        return {static_cast<int>(fault), asio::error::get_ssl_category()};
      break;
    default:
      // A session that has failed before fails again without a cause.
      if (cause != 0 && cause != EAGAIN) return {cause, boost::system::system_category()};
  }
  return asio::ssl::error::stream_truncated;
}

}  // namespace proxy::net
