// The clock, the random numbers and the network that the fuzzed proxy meets. All of them follow
// from the input, so an input that crashes once always crashes.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/socket.hpp"

namespace fuzz {

// From the constructor to the destructor, the following calls of this thread are answered here. The
// disk's threads are not affected: they live in real time.
// - system_clock::now(), steady_clock::now(), and clock_gettime() of wall and steady time: the time
//   moves by pass() and step() alone. It begins on Monday, 5 January 2026, 00:00:00 GMT.
// - std::random_device: the same numbers for each System.
// - socket() and connect() for TCP: one end of a pair of Unix sockets. take_connections() returns
//   the other ends. Port 9 refuses connections.
// - socket() for UDP: fails, so names are not resolved.
// - getpeername(), for the descriptors of client().
// - timerfd_create(): fails, so that Asio asks the clock which timers are due.
class System {
 public:
  System();
  ~System();
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  // Steady time moves by the longest time-out at most: the machine sleeps for the rest.
  void pass(std::chrono::seconds time);
  // Wall time is set.
  void step(std::chrono::seconds by) { wall_ += by; }

  // A connection that the proxy has made.
  struct Connection {
    support::Descriptor far;
    std::string address;
    std::uint16_t port;
  };
  std::vector<Connection> take_connections() { return std::exchange(connections_, {}); }

  // A connection of a client with this IPv4 address. The caller owns `near`, the proxy's end.
  struct Client {
    support::Descriptor far;
    int near;
  };
  Client client(const std::string& address);

  // Lets this thread live in real time for as long as it exists.
  class RealTime {
   public:
    RealTime();
    ~RealTime();
    RealTime(const RealTime&) = delete;
    RealTime& operator=(const RealTime&) = delete;

   private:
    System* const simulated_;
  };

  // The system's calls. An error is returned as -1, with errno.
  int open();
  int connect(int near, const void* address);
  int name_peer(int near, void* name, unsigned* size) const;
  std::chrono::nanoseconds wall() const { return wall_; }
  std::chrono::nanoseconds steady() const { return steady_; }
  std::chrono::nanoseconds since_boot() const { return since_boot_; }
  unsigned draw() { return random_ = random_ * 1664525 + 1013904223; }

 private:
  std::chrono::nanoseconds wall_;
  std::chrono::nanoseconds steady_;
  std::chrono::nanoseconds since_boot_;
  unsigned random_ = 1;
  std::map<int, support::Descriptor> opened_;  // by the near end: far ends that nobody connected
  std::map<int, std::string> clients_;         // by the near end
  std::vector<Connection> connections_;
};

}  // namespace fuzz
