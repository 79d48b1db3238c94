// The sockets that clients connect to.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/net/asio.hpp"

namespace proxy {

// The addresses we listen on, each with one file descriptor per thread. If an address cannot be
// listened on, the constructor throws std::runtime_error with a text for a person.
class Listeners {
 public:
  // Inherited sockets (LISTEN_FDS, as systemd passes them) replace those of the settings. Throws
  // too if another process listens on a port, which SO_REUSEPORT alone would hide.
  Listeners(std::span<const config::HostPort> settings, std::size_t threads);
  ~Listeners();
  Listeners(const Listeners&) = delete;
  Listeners& operator=(const Listeners&) = delete;

  [[nodiscard]] const std::vector<net::tcp::endpoint>& addresses() const { return addresses_; }
  [[nodiscard]] std::size_t threads() const { return threads_; }
  // The thread's acceptors, which own their descriptors. Call this once per thread.
  std::vector<net::Acceptor> acceptors(std::size_t thread, net::Executor executor);

 private:
  void inherit(int first, int count);
  void bind(const config::HostPort& wanted);

  std::size_t threads_;
  std::vector<net::tcp::endpoint> addresses_;
  std::vector<std::vector<int>> descriptors_;  // by address, then by thread; -1: handed out
};

}  // namespace proxy
