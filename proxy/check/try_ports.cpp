#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>

#include "proxy/check/try_out.hpp"
#include "proxy/machine/descriptor.hpp"
#include "proxy/net/asio.hpp"

namespace proxy {
namespace {

using net::tcp;

class Socket {
 public:
  explicit Socket(int family)
      : socket_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {}

  [[nodiscard]] int fd() const { return socket_.number(); }
  // Waits for the event until then. Returns whether it came.
  [[nodiscard]] bool await(short event, std::chrono::steady_clock::time_point until) const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    pollfd polled{fd(), event, 0};
    return ::poll(&polled, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0))) == 1;
  }

 private:
  machine::Descriptor socket_;
};

tcp::endpoint endpoint_of(const config::HostPort& listen) {
  return {net::asio::ip::make_address(listen.host), listen.port};
}

// 0, or the error of the system.
int try_to_bind(const tcp::endpoint& endpoint) {
  const Socket socket(endpoint.protocol().family());
  if (socket.fd() < 0) return errno;
  const int on = 1;
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (endpoint.address().is_v6()) {
    ::setsockopt(socket.fd(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  const auto size = static_cast<socklen_t>(endpoint.size());
  return ::bind(socket.fd(), endpoint.data(), size) == 0 ? 0 : errno;
}

// Asks for a page that every Hearsay answers or refuses, naming itself as the server.
bool is_hearsay(const tcp::endpoint& endpoint) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  const Socket socket(endpoint.protocol().family());
  const auto size = static_cast<socklen_t>(endpoint.size());
  if (::connect(socket.fd(), endpoint.data(), size) != 0 && errno != EINPROGRESS) return false;
  constexpr std::string_view kRequest =
      "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  if (!socket.await(POLLOUT, until)) return false;
  if (::send(socket.fd(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL) < 0) return false;
  std::string answer;
  std::array<char, 4096> some{};
  while (answer.size() < some.size() && socket.await(POLLIN, until)) {
    const auto got = ::recv(socket.fd(), some.data(), some.size(), 0);
    if (got <= 0) break;
    answer.append(some.data(), static_cast<std::size_t>(got));
  }
  return answer.substr(0, answer.find("\r\n\r\n")).find("\r\nServer: Hearsay/") != answer.npos;
}

}  // namespace

bool try_ports(const config::Settings& settings, const machine::ServiceUnit* unit, Trial& into) {
  if (unit && unit->has_socket) {
    into.notes.push_back("listen: hearsay.socket listens in its place");
    return true;
  }
  bool runs = false;
  for (const auto& listen : settings.listen) {
    const auto endpoint = endpoint_of(listen);
    const int error = try_to_bind(endpoint);
    if (error == 0) continue;
    if (error == EACCES && unit && unit->may_bind_any) continue;
    const auto shown = config::to_text(listen);
    if (error == EADDRINUSE && is_hearsay(endpoint)) {
      into.notes.push_back(fmt::format("listen: a Hearsay runs at {}", shown));
      runs = true;
      continue;
    }
    const auto advice =
        error == EADDRINUSE ? "; another program has this port: stop it, or take another"
        : error == EACCES   ? "; a port below 1024 is for root, or for a service that may bind it"
        : error == EADDRNOTAVAIL ? "; this machine has no such address: name one that it has"
                                 : "";
    into.errors.push_back(fmt::format("listen: {} cannot be bound: {}{}", shown,
                                      std::generic_category().message(error), advice));
  }
  return runs;
}

}  // namespace proxy
