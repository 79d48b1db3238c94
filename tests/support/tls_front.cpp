#include "tests/support/tls_front.hpp"

#include <fcntl.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <utility>

namespace support {
namespace {

using Session = std::unique_ptr<SSL, decltype(&SSL_free)>;

Descriptor connect_to(std::uint16_t port) {
  Descriptor plain(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto address = loopback(port);
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(plain.number(), generic, sizeof address) != 0) return Descriptor();
  return plain;
}

bool send_all(int to, const char* bytes, std::size_t size) {
  while (size > 0) {
    const auto sent = ::send(to, bytes, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

// Passes bytes on in both directions until either side ends, or `ends` can be read.
void pass_on(SSL* session, int secret, int plain, int ends) {
  std::array<char, 16384> bytes{};
  std::array<pollfd, 3> polled{{{secret, POLLIN, 0}, {plain, POLLIN, 0}, {ends, POLLIN, 0}}};
  for (;;) {
    const bool is_buffered = SSL_pending(session) > 0;
    if (::poll(polled.data(), polled.size(), is_buffered ? 0 : -1) < 0) return;
    if (polled[2].revents != 0) return;
    if (is_buffered || polled[0].revents != 0) {
      const int read = SSL_read(session, bytes.data(), static_cast<int>(bytes.size()));
      if (read <= 0 || !send_all(plain, bytes.data(), static_cast<std::size_t>(read))) return;
    }
    if (polled[1].revents != 0) {
      const auto read = ::recv(plain, bytes.data(), bytes.size(), 0);
      if (read <= 0 || SSL_write(session, bytes.data(), static_cast<int>(read)) <= 0) return;
    }
  }
}

}  // namespace

TlsFront::TlsFront(const Authority& authority, const std::string& alternative_name,
                   std::uint16_t to, Listener listener)
    : context_(authority.server(alternative_name)),
      to_(to),
      listener_(std::move(listener)),
      wake_{-1, -1} {
  ::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  if (::pipe2(wake_, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  acceptor_ = std::thread([this] { accept_all(); });
}

void TlsFront::stop() {
  if (!acceptor_.joinable()) return;
  listener_.shut_down();
  ::close(wake_[1]);
  acceptor_.join();
  connections_.clear();
  ::close(wake_[0]);
}

void TlsFront::accept_all() {
  for (;;) {
    const int connection = ::accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    connections_.emplace_back([this, connection] { serve(connection); });
  }
}

void TlsFront::serve(int connection) {
  const Descriptor secret(connection);
  const Session session(SSL_new(context_.native_handle()), &SSL_free);
  SSL_set_fd(session.get(), secret.number());
  if (SSL_accept(session.get()) != 1) return;
  const auto plain = connect_to(to_);
  if (plain.number() < 0) return;
  pass_on(session.get(), secret.number(), plain.number(), wake_[0]);
  SSL_shutdown(session.get());
}

}  // namespace support
