// The sockets that clients connect to.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/net/asio.hpp"

namespace proxy {

// The addresses we listen on, each with one file descriptor per thread. Throws std::runtime_error,
// with a text for a person, where one cannot be had.
class Listeners {
 public:
  // Inherited sockets (LISTEN_FDS, as systemd passes them) take the place of the settings' ones. A
  // port that another process listens on is an error, which SO_REUSEPORT alone would hide.
  Listeners(std::span<const config::HostPort> settings, std::size_t threads);
  ~Listeners();
  Listeners(const Listeners&) = delete;
  Listeners& operator=(const Listeners&) = delete;

  [[nodiscard]] const std::vector<net::tcp::endpoint>& addresses() const { return addresses_; }
  // Once per thread: its acceptors, which own their descriptors.
  std::vector<net::Acceptor> acceptors(std::size_t thread, net::Executor executor);

 private:
  void inherit(int first, int count, std::size_t threads);
  void bind(const config::HostPort& wanted, std::size_t threads);

  std::vector<net::tcp::endpoint> addresses_;
  std::vector<std::vector<int>> descriptors_;  // by address, then by thread; -1: handed out
};

}  // namespace proxy
