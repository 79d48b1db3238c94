#include "tests/support/pump.hpp"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <system_error>

namespace support {
namespace {

using Clock = std::chrono::steady_clock;

int checked(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

// Adds the bytes received; false at the end of the stream or at a reset.
bool read_into(int socket, std::string& bytes, bool& was_reset) {
  std::array<char, 65536> buffer;
  const auto count = ::recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count < 0) {
    was_reset = errno != EAGAIN && errno != EINTR;
    return !was_reset;
  }
  bytes.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0;
}

// Removes what was sent from `bytes`; false if the other side has closed.
bool write_from(int socket, std::string_view& bytes) {
  const auto count = ::send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  bytes.remove_prefix(static_cast<std::size_t>(count));
  return true;
}

}  // namespace

Pump::Pump(std::uint16_t proxy_port)
    : proxy_port_(proxy_port),
      listening_(
          checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket")) {
  auto address = loopback(0);
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  checked(::bind(listening_.number(), plain, size), "bind");
  checked(::listen(listening_.number(), 128), "listen");
  checked(::getsockname(listening_.number(), plain, &size), "getsockname");
  port_ = ntohs(address.sin_port);
}

void Pump::accept_waiting() {
  for (;;) {
    Descriptor taken(::accept4(listening_.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (taken.number() < 0) return;
    const int on = 1;
    ::setsockopt(taken.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connections_.push_back({std::move(taken), {}});
  }
}

void Pump::serve(Connection& connection, const Answer& answer, After after) {
  const int socket = connection.descriptor.number();
  bool ignored = false;
  connection.over = !read_into(socket, connection.got, ignored);
  if (connection.over || connection.answered) return;
  const auto said = answer(connection.got);
  if (!said) return;
  std::string_view left = *said;  // short enough for the kernel to take at once
  while (!left.empty() && write_from(socket, left)) {
  }
  connection.answered = true;
  if (after != After::keeps) ::shutdown(socket, SHUT_WR);
}

Pump::Played Pump::play(std::string_view from_client, const Answer& answer, After after) {
  Descriptor client(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
  const auto address = loopback(proxy_port_);
  checked(::connect(client.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
          "connect");
  for (auto& connection : connections_) {
    connection.got.clear();
    connection.answered = false;
  }
  Played played;
  const auto until = Clock::now() + kPatience;
  bool open = true;
  const auto busy = [&] {
    return std::any_of(connections_.begin(), connections_.end(), [&](const auto& one) {
      const bool waits = after == After::ends || !one.answered;
      return !one.over && waits && !(after == After::keeps && one.got.empty());
    });
  };
  bool sending = true;
  while (open || busy()) {
    std::vector<pollfd> waiting{{listening_.number(), POLLIN, 0}};
    const short wanted = static_cast<short>(sending ? POLLIN | POLLOUT : POLLIN);
    waiting.push_back({open ? client.number() : -1, wanted, 0});
    for (const auto& one : connections_) {
      waiting.push_back({one.over ? -1 : one.descriptor.number(), POLLIN, 0});
    }
    ::poll(waiting.data(), waiting.size(), 1000);
    if (Clock::now() > until) throw TimedOut("an exchange does not end");
    if (sending && !write_from(client.number(), from_client)) from_client = {};
    if (sending && from_client.empty()) {
      ::shutdown(client.number(), SHUT_WR);
      sending = false;
    }
    if (open) open = read_into(client.number(), played.at_client, played.was_reset);
    auto ready = waiting.begin() + 2;
    for (auto& one : connections_) {
      if ((ready++)->revents != 0) serve(one, answer, after);
    }
    accept_waiting();
  }
  for (const auto& one : connections_) played.at_origin.push_back(one.got);
  connections_.remove_if([&](const auto& one) { return one.over || after != After::keeps; });
  return played;
}

}  // namespace support
