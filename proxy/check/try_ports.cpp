#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

#include "proxy/check/try_out.hpp"
#include "proxy/machine/descriptor.hpp"
#include "proxy/net/asio.hpp"

namespace proxy::check {
namespace {

using net::tcp;

tcp::endpoint endpoint_of(const config::HostPort& listen) {
  return {net::asio::ip::make_address(listen.host), listen.port};
}

// 0, or the error of the system.
int try_to_bind(const tcp::endpoint& endpoint) {
  const machine::Descriptor socket(
      ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return errno;
  const int on = 1;
  // As the proxy does: connections that linger from its last run are no reason to fail.
  // SO_REUSEPORT, which it sets, too, is left out, since with it another proxy's port could be
  // bound.
  ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (endpoint.address().is_v6()) {
    ::setsockopt(socket.number(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  const auto size = static_cast<socklen_t>(endpoint.size());
  return ::bind(socket.number(), endpoint.data(), size) == 0 ? 0 : errno;
}

// Asks for a page that every Hearsay answers or refuses, naming itself as the server.
bool is_hearsay(const std::string& address) {
  const auto head = head_of_answer(
      {"http://" + address + "/health", {"Host: localhost"}, std::chrono::seconds(1)});
  return head.find("\r\nServer: Hearsay/") != head.npos;
}

}  // namespace

void try_ports(const config::Settings& settings, const machine::ServiceUnit* unit,
               CheckReport& into) {
  if (unit && unit->has_socket) {
    into.notes.push_back("listen: hearsay.socket listens in its place");
    into.runs = true;
    return;
  }
  for (const auto& listen : settings.process.listen) {
    const auto endpoint = endpoint_of(listen);
    const int error = try_to_bind(endpoint);
    if (error == 0) continue;
    // The unit gives the service a capability that whoever checks lacks.
    if (error == EACCES && unit && unit->may_bind_any) continue;
    const auto shown = config::to_text(listen);
    // Most likely the very proxy whose settings are being changed.
    if (error == EADDRINUSE && is_hearsay(shown)) {
      into.notes.push_back(fmt::format("listen: a Hearsay runs at {}", shown));
      into.runs = true;
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
}

}  // namespace proxy::check
