// Hosts on a LAN that can be cut in two, each a network namespace. The kernel removes all of it
// when the process ends, however it ends: nothing has a name outside.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/socket.hpp"

namespace bench {

// The system lets this process make no namespaces, or has no `ip`.
struct NotPermitted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Each host has an interface to the LAN, and one to the network of the origin, which is never cut.
// The thread that makes the network, and those that it starts later, are at the origin.
class Network {
 public:
  // Needs root and iproute2. Throws NotPermitted.
  explicit Network(std::size_t hosts);

  std::size_t size() const { return hosts_.size(); }
  // The address of a host on the LAN.
  static std::string address(std::size_t host);
  // The address at which all hosts reach the origin.
  static std::string origin();

  // Whether a host is of the half that is cut off.
  bool is_beyond(std::size_t host) const { return host >= size() / 2; }
  // Moves one half of the hosts to a LAN of its own: packets to the other half vanish.
  void cut() const { move_half_to("lan1"); }
  void heal() const { move_half_to("lan0"); }

  // While this exists, the thread is at the host: also what it starts or connects to.
  class Visit {
   public:
    Visit(const Network& network, std::size_t host);
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    ~Visit();

   private:
    const Network& network_;
  };

 private:
  void add_host();
  void move_half_to(const char* bridge) const;

  support::Descriptor home_;
  std::vector<support::Descriptor> hosts_;
};

}  // namespace bench
