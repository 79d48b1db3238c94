// TCP on 127.0.0.1 for tests, in blocking calls that end after kPatience at the latest. Sockets are
// plain because tests send malformed bytes, close early, reset, and look at exact bytes.
#pragma once

#include <netinet/in.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/support/patience.hpp"

namespace support {

struct TimedOut : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The address of 127.0.0.1 for the system's calls.
sockaddr_in loopback(std::uint16_t port);

// Owns a file descriptor, and closes it in the destructor.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }

  int number() const { return number_; }
  void close();

 private:
  int number_;
};

// One connection. Calls throw TimedOut after kPatience, and std::system_error on any error but a
// close or a reset by the other side. One thread may read while a second writes and a third calls
// shut_down().
class Socket {
 public:
  explicit Socket(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  // `from`: the last byte of our own address, 127.0.0.`from`.
  static Socket connect(std::uint16_t port, std::uint8_t from = 1);

  // Waits for bytes and returns them, at most `limit`; empty after a close or reset by the other
  // side.
  std::string read_some(std::size_t limit = 65536);
  // False if the other side closed before all bytes were sent.
  bool write(std::string_view bytes);
  void finish_writing();
  // So many bytes wait at most until they are read, and about as many more.
  void take_at_most(int bytes);
  void shut_down();
  // Ends the connection with a reset.
  void reset();
  bool was_reset() const { return was_reset_; }

 private:
  Descriptor descriptor_;
  bool was_reset_ = false;
};

// Who can connect to a listening socket.
enum class Reach { loopback, all_networks };

// A listening socket on a port that the system chooses. Connections succeed from the start.
class Listener {
 public:
  explicit Listener(int backlog = 128, Reach reach = Reach::loopback);
  // On this address of loopback and this port, for servers whose names have no port.
  Listener(const std::string& address, std::uint16_t port);

  std::uint16_t port() const { return port_; }
  int descriptor() const { return descriptor_.number(); }
  // Waits for a connection; none after shut_down().
  std::optional<Socket> accept();
  void shut_down();

 private:
  Descriptor descriptor_;
  std::uint16_t port_ = 0;
};

// True if a connection to the port succeeds; the connection is closed.
bool accepts_connections(std::uint16_t port);

// A port that the system gives to nobody else while this object lives. It refuses connections until
// a program that a test starts listens there.
class ReservedPort {
 public:
  ReservedPort();

  std::uint16_t port() const { return port_; }

 private:
  Descriptor descriptor_;  // bound with SO_REUSEADDR, as the program must do; never listens
  std::uint16_t port_;
};

}  // namespace support
