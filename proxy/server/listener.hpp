// The sockets that clients connect to.
#pragma once

#include <boost/core/noncopyable.hpp>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "config/settings.hpp"
#include "proxy/machine/descriptor.hpp"
#include "proxy/net/asio.hpp"

namespace proxy::server {

// The addresses we listen on, each with at least one socket. If an address cannot be listened on,
// the constructor throws std::runtime_error with a text for a person.
class Listeners : boost::noncopyable {
 public:
  // Opens a socket per thread for each address of the settings. Throws too if another process
  // listens on a port, which SO_REUSEPORT alone would hide.
  //
  // Inherited sockets (LISTEN_FDS) replace those of the settings if systemd passes them. If our
  // predecessor does (machine/launcher.hpp), each address of the settings gets the sockets that
  // it had, however many threads it had; those of other addresses are closed.
  Listeners(std::span<const config::HostPort> settings, std::size_t threads);

  [[nodiscard]] const std::vector<net::tcp::endpoint>& addresses() const { return addresses_; }
  [[nodiscard]] std::size_t threads() const { return threads_; }
  // The thread's acceptors, which own their descriptors. Together the threads accept from every
  // socket. Call this once per thread.
  std::vector<net::Acceptor> acceptors(std::size_t thread, net::Executor executor);

  // The descriptors of all sockets, for a successor. They are open until their acceptors are
  // closed.
  [[nodiscard]] std::vector<int> descriptors() const;
  // Whether the settings name the addresses.
  [[nodiscard]] bool are_of_settings() const { return of_settings_; }

 private:
  struct Socket {
    explicit Socket(machine::Descriptor socket)
        : descriptor(socket.number()), owned(std::move(socket)) {}
    int descriptor;
    machine::Descriptor owned;  // the same, until an acceptor owns it
  };

  // The addresses of the settings. `pool`: the sockets of our predecessor.
  void open(std::span<const config::HostPort> settings, std::vector<machine::Descriptor> pool);
  // The sockets that systemd passes.
  void inherit(std::vector<machine::Descriptor> pool);
  // Moves the address's sockets from `pool` to ours. Returns whether there are any.
  bool take(const net::tcp::endpoint& wanted, std::vector<machine::Descriptor>& pool);
  void bind(const net::tcp::endpoint& wanted);

  std::size_t threads_;
  bool of_settings_ = true;
  std::vector<net::tcp::endpoint> addresses_;
  std::vector<std::vector<Socket>> sockets_;  // by address
};

}  // namespace proxy::server
