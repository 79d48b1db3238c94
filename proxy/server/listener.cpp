#include "proxy/server/listener.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "proxy/machine/launcher.hpp"

namespace proxy::server {

using net::tcp;

namespace {

std::string name_of(const tcp::endpoint& endpoint) {
  const auto host = endpoint.address().to_string();
  const auto shown = endpoint.address().is_v6() ? '[' + host + ']' : host;
  return shown + ':' + std::to_string(endpoint.port());
}

[[noreturn]] void fail(const tcp::endpoint& endpoint, std::string_view what) {
  // First of all, since the texts below may change errno.
  const int cause = errno;
  std::string text = "listen: cannot ";
  text.append(what).append(" ").append(name_of(endpoint)).append(": ");
  text += std::system_category().message(cause);
  if (cause == EADDRINUSE)
    text += " (another program has this port; stop it, or change \"listen\")";
  if (cause == EADDRNOTAVAIL) text += " (this machine has no such address; change \"listen\")";
  throw std::runtime_error(text);
}

tcp::endpoint local_name(const machine::Descriptor& socket) {
  tcp::endpoint endpoint;
  auto size = static_cast<socklen_t>(endpoint.capacity());
  if (::getsockname(socket.number(), endpoint.data(), &size) != 0) return {};
  endpoint.resize(size);
  return endpoint;
}

void set(int fd, int level, int option) {
  const int on = 1;
  ::setsockopt(fd, level, option, &on, sizeof on);
}

machine::Descriptor open_bound(const tcp::endpoint& endpoint, bool shared) {
  const int family = endpoint.address().is_v6() ? AF_INET6 : AF_INET;
  machine::Descriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) fail(endpoint, "open a socket for");
  const int fd = socket.number();
  // Connections of an earlier run would keep the port for a minute (TIME_WAIT).
  set(fd, SOL_SOCKET, SO_REUSEADDR);
  if (shared) set(fd, SOL_SOCKET, SO_REUSEPORT);
  // Whatever the system's default: an address of IPv6 means IPv6, or "[::]" would take the port
  // from "0.0.0.0".
  if (family == AF_INET6) set(fd, IPPROTO_IPV6, IPV6_V6ONLY);
  if (::bind(fd, endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) {
    fail(endpoint, "bind to");
  }
  return socket;
}

void listen_on(int fd, const tcp::endpoint& endpoint) {
  if (::listen(fd, SOMAXCONN) != 0) fail(endpoint, "listen on");
}

tcp::endpoint endpoint_of(const config::HostPort& wanted) {
  return {net::asio::ip::make_address(wanted.host), wanted.port};
}

// Port 0 is any port.
bool is_for(const tcp::endpoint& wanted, const tcp::endpoint& socket) {
  return wanted == socket || (wanted.port() == 0 && wanted.address() == socket.address());
}

}  // namespace

Listeners::Listeners(std::span<const config::HostPort> settings, std::size_t threads)
    : threads_(threads) {
  std::vector<machine::Descriptor> pool;
  for (const auto& socket : machine::succession::inherited_sockets()) {
    if (socket.name == machine::succession::kControlSocket) continue;
    of_settings_ = socket.name == machine::succession::kOwnSockets;
    pool.emplace_back(socket.descriptor);
  }
  if (of_settings_) {
    open(settings, std::move(pool));
  } else {
    inherit(std::move(pool));
  }
}

void Listeners::open(std::span<const config::HostPort> settings,
                     std::vector<machine::Descriptor> pool) {
  // Of an address that is not listened on any more, `pool` closes the sockets: clients must not
  // wait in their queues.
  for (const auto& wanted : settings) {
    const auto endpoint = endpoint_of(wanted);
    if (!take(endpoint, pool)) bind(endpoint);
  }
}

void Listeners::inherit(std::vector<machine::Descriptor> pool) {
  for (const auto& socket : pool) {
    const int fd = socket.number();
    const auto endpoint = local_name(socket);
    if (endpoint.port() == 0) {
      throw std::runtime_error("LISTEN_FDS: descriptor " + std::to_string(fd) +
                               " is no bound TCP socket");
    }
    // Who passed it may have left it blocking, and accept() must never wait.
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    // On a socket that listens already, listen() changes only the length of the queue.
    listen_on(fd, endpoint);
  }
  while (!pool.empty()) {
    if (!take(local_name(pool.front()), pool)) return;
  }
}

bool Listeners::take(const tcp::endpoint& wanted, std::vector<machine::Descriptor>& pool) {
  const auto first = std::find_if(pool.begin(), pool.end(), [&](const auto& socket) {
    return is_for(wanted, local_name(socket));
  });
  if (first == pool.end()) return false;
  const auto endpoint = local_name(*first);
  // All sockets of the address: a predecessor passes one for each of its threads.
  const auto mine = std::stable_partition(
      pool.begin(), pool.end(), [&](const auto& socket) { return local_name(socket) != endpoint; });
  sockets_.emplace_back(std::move_iterator(mine), std::move_iterator(pool.end()));
  pool.erase(mine, pool.end());
  addresses_.push_back(endpoint);
  return true;
}

void Listeners::bind(const tcp::endpoint& wanted) {
  tcp::endpoint endpoint = wanted;
  // The probe does not set SO_REUSEPORT, which would share the port with another process that also
  // sets it.
  // Of port 0, the probe also finds the one port that the sockets of all threads then bind.
  endpoint.port(local_name(open_bound(endpoint, false)).port());
  auto& mine = sockets_.emplace_back();
  for (std::size_t i = 0; i < threads_; ++i) {
    mine.emplace_back(open_bound(endpoint, true));
    listen_on(mine.back().descriptor, endpoint);
  }
  addresses_.push_back(endpoint);
}

// An inherited address may have fewer sockets than there are threads, or more. A socket of several
// threads has a descriptor for each, which that thread closes.
std::vector<net::Acceptor> Listeners::acceptors(std::size_t thread, net::Executor executor) {
  std::vector<net::Acceptor> acceptors;
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    auto& sockets = sockets_[i];
    for (auto n = thread % sockets.size(); n < sockets.size(); n += threads_) {
      auto& [descriptor, owned] = sockets[n];
      const int fd = owned ? owned.release() : ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
      acceptors.emplace_back(executor, addresses_[i].protocol(), fd);
    }
  }
  return acceptors;
}

std::vector<int> Listeners::descriptors() const {
  std::vector<int> all;
  for (const auto& of_address : sockets_) {
    for (const auto& socket : of_address) all.push_back(socket.descriptor);
  }
  return all;
}

}  // namespace proxy::server
