#include "tests/support/socket.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace support {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

const sockaddr* generic(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

Descriptor tcp_socket() {
  Descriptor descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (descriptor.number() < 0) fail("socket");
  return descriptor;
}

Descriptor bound_socket(const sockaddr_in& address) {
  Descriptor descriptor = tcp_socket();
  const int on = 1;
  ::setsockopt(descriptor.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(descriptor.number(), generic(address), sizeof address) != 0) fail("bind");
  return descriptor;
}

Descriptor bound_socket(Reach reach = Reach::loopback) {
  sockaddr_in any_port = loopback(0);
  if (reach == Reach::all_networks) any_port.sin_addr.s_addr = htonl(INADDR_ANY);
  return bound_socket(any_port);
}

sockaddr_in address_of(const std::string& text, std::uint16_t port) {
  sockaddr_in address = loopback(port);
  if (::inet_pton(AF_INET, text.c_str(), &address.sin_addr) != 1) fail("address " + text);
  return address;
}

std::uint16_t port_of(int descriptor) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    fail("getsockname");
  }
  return ntohs(address.sin_port);
}

void await_event(int descriptor, short event, const char* what) {
  pollfd polled{descriptor, event, 0};
  const int limit = static_cast<int>(std::chrono::milliseconds(kPatience).count());
  const int ready = ::poll(&polled, 1, limit);
  if (ready < 0 && errno != EINTR) fail("poll");
  if (ready == 0) throw TimedOut(std::string("timed out ") + what);
}

bool closed_by_peer(int error) {
  return error == ECONNRESET || error == EPIPE;
}

}  // namespace

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  close();
  number_ = std::exchange(other.number_, -1);
  return *this;
}

void Descriptor::close() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

Socket Socket::connect(std::uint16_t port, std::uint8_t from) {
  Descriptor descriptor = tcp_socket();
  sockaddr_in own = loopback(0);
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + from);
  if (from != 1 && ::bind(descriptor.number(), generic(own), sizeof own) != 0) fail("bind");
  const sockaddr_in address = loopback(port);
  if (::connect(descriptor.number(), generic(address), sizeof address) != 0) {
    fail("connect to port " + std::to_string(port));
  }
  const int on = 1;
  ::setsockopt(descriptor.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return Socket(std::move(descriptor));
}

std::string Socket::read_some(std::size_t limit) {
  await_event(descriptor_.number(), POLLIN, "reading");
  std::string bytes(limit, '\0');
  const ssize_t count = ::recv(descriptor_.number(), bytes.data(), bytes.size(), 0);
  if (count < 0 && !closed_by_peer(errno)) fail("recv");
  was_reset_ = was_reset_ || count < 0;
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

bool Socket::write(std::string_view bytes) {
  while (!bytes.empty()) {
    await_event(descriptor_.number(), POLLOUT, "writing");
    const ssize_t count =
        ::send(descriptor_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && closed_by_peer(errno)) return false;
    if (count < 0 && errno != EAGAIN) fail("send");
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void Socket::finish_writing() {
  ::shutdown(descriptor_.number(), SHUT_WR);
}

void Socket::take_at_most(int bytes) {
  ::setsockopt(descriptor_.number(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

void Socket::shut_down() {
  ::shutdown(descriptor_.number(), SHUT_RDWR);
}

// To connect a connected socket to no address resets it (connect(2), tcp_disconnect()).
void Socket::reset() {
  sockaddr_in nowhere{};
  nowhere.sin_family = AF_UNSPEC;
  ::connect(descriptor_.number(), generic(nowhere), sizeof nowhere);
}

Listener::Listener(int backlog, Reach reach)
    : descriptor_(bound_socket(reach)), port_(port_of(descriptor())) {
  if (::listen(descriptor(), backlog) != 0) fail("listen");
}

Listener::Listener(const std::string& address, std::uint16_t port)
    : descriptor_(bound_socket(address_of(address, port))), port_(port) {
  if (::listen(descriptor(), 128) != 0) fail("listen");
}

std::optional<Socket> Listener::accept() {
  Descriptor connection(::accept4(descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
  if (connection.number() < 0) return std::nullopt;
  const int on = 1;
  ::setsockopt(connection.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return Socket(std::move(connection));
}

void Listener::shut_down() {
  ::shutdown(descriptor(), SHUT_RDWR);
}

bool accepts_connections(std::uint16_t port) {
  try {
    Socket::connect(port);
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

ReservedPort::ReservedPort() : descriptor_(bound_socket()), port_(port_of(descriptor_.number())) {}

}  // namespace support
