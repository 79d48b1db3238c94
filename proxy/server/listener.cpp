#include "proxy/server/listener.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace proxy {

using net::tcp;

namespace {

constexpr int kFirstInherited = 3;  // sd_listen_fds(3)

std::string name_of(const tcp::endpoint& endpoint) {
  const auto host = endpoint.address().to_string();
  const auto shown = endpoint.address().is_v6() ? '[' + host + ']' : host;
  return shown + ':' + std::to_string(endpoint.port());
}

[[noreturn]] void fail(const tcp::endpoint& endpoint, std::string_view what) {
  const int cause = errno;
  std::string text = "listen: cannot ";
  text.append(what).append(" ").append(name_of(endpoint)).append(": ");
  text += std::system_category().message(cause);
  if (cause == EADDRINUSE)
    text += " (another program has this port; stop it, or change \"listen\")";
  throw std::runtime_error(text);
}

tcp::endpoint local_name(int fd) {
  tcp::endpoint endpoint;
  auto size = static_cast<socklen_t>(endpoint.capacity());
  if (::getsockname(fd, endpoint.data(), &size) != 0) return {};
  endpoint.resize(size);
  return endpoint;
}

void set(int fd, int level, int option) {
  const int on = 1;
  ::setsockopt(fd, level, option, &on, sizeof on);
}

int open_bound(const tcp::endpoint& endpoint, bool shared) {
  const int family = endpoint.address().is_v6() ? AF_INET6 : AF_INET;
  const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) fail(endpoint, "open a socket for");
  set(fd, SOL_SOCKET, SO_REUSEADDR);
  if (shared) set(fd, SOL_SOCKET, SO_REUSEPORT);
  if (family == AF_INET6) set(fd, IPPROTO_IPV6, IPV6_V6ONLY);
  if (::bind(fd, endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) {
    const int cause = errno;
    ::close(fd);
    errno = cause;
    fail(endpoint, "bind to");
  }
  return fd;
}

int listening(int fd, const tcp::endpoint& endpoint) {
  if (::listen(fd, SOMAXCONN) != 0) fail(endpoint, "listen on");
  return fd;
}

// The number in LISTEN_FDS if it is meant for this process.
int inherited_count() {
  const char* const pid = std::getenv("LISTEN_PID");
  const char* const count = std::getenv("LISTEN_FDS");
  if (pid == nullptr || count == nullptr || std::atol(pid) != ::getpid()) return 0;
  return std::atoi(count);
}

}  // namespace

Listeners::Listeners(std::span<const config::HostPort> settings, std::size_t threads)
    : threads_(threads) {
  if (const int count = inherited_count(); count > 0) {
    inherit(kFirstInherited, count);
    return;
  }
  for (const auto& wanted : settings) bind(wanted);
}

Listeners::~Listeners() {
  for (const auto& of_address : descriptors_) {
    for (const int fd : of_address) {
      if (fd >= 0) ::close(fd);
    }
  }
}

void Listeners::inherit(int first, int count) {
  for (int fd = first; fd < first + count; ++fd) {
    const auto endpoint = local_name(fd);
    if (endpoint.port() == 0) {
      throw std::runtime_error("LISTEN_FDS: descriptor " + std::to_string(fd) +
                               " is no bound TCP socket");
    }
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    listening(fd, endpoint);
    auto& mine = descriptors_.emplace_back();
    mine.push_back(fd);
    // All threads share the queue of one inherited socket. Each thread needs its own descriptor,
    // which it closes.
    for (std::size_t i = 1; i < threads_; ++i) mine.push_back(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    addresses_.push_back(endpoint);
  }
}

void Listeners::bind(const config::HostPort& wanted) {
  tcp::endpoint endpoint(net::asio::ip::make_address(wanted.host), wanted.port);
  // The probe does not set SO_REUSEPORT, which would share the port with another process that also
  // sets it.
  const int probe = open_bound(endpoint, false);
  endpoint.port(local_name(probe).port());
  ::close(probe);
  auto& mine = descriptors_.emplace_back();
  for (std::size_t i = 0; i < threads_; ++i) {
    mine.push_back(open_bound(endpoint, true));
    listening(mine.back(), endpoint);
  }
  addresses_.push_back(endpoint);
}

std::vector<net::Acceptor> Listeners::acceptors(std::size_t thread, net::Executor executor) {
  std::vector<net::Acceptor> acceptors;
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    const int fd = std::exchange(descriptors_[i][thread], -1);
    acceptors.emplace_back(executor, addresses_[i].protocol(), fd);
  }
  return acceptors;
}

}  // namespace proxy
