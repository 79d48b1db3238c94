// TCP on 127.0.0.1 for tests: blocking calls of which every one ends.
#pragma once

#include <netinet/in.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace support {

// What takes longer than this in a test will not come.
inline constexpr std::chrono::seconds kPatience{10};

struct TimedOut : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// 127.0.0.1 as the system's calls take it.
sockaddr_in loopback(std::uint16_t port);

// Owns a file descriptor; closed with it.
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

// One connection. Calls throw TimedOut after kPatience, std::system_error on what is neither the
// peer's closing nor its reset. Reading, writing and shut_down() may be on three threads.
class Socket {
 public:
  explicit Socket(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  static Socket connect(std::uint16_t port);

  // Bytes as they come, at most `limit`; empty once the other side has closed or reset.
  std::string read_some(std::size_t limit = 65536);
  // False if the other side closed before it took all.
  bool write(std::string_view bytes);
  void finish_writing();
  void shut_down();
  bool was_reset() const { return was_reset_; }

 private:
  Descriptor descriptor_;
  bool was_reset_ = false;
};

// A listening socket on a port of the system's choice, open to connections from the start.
class Listener {
 public:
  explicit Listener(int backlog = 128);

  std::uint16_t port() const { return port_; }
  int descriptor() const { return descriptor_.number(); }
  // Waits for a connection; none after shut_down().
  std::optional<Socket> accept();
  void shut_down();

 private:
  Descriptor descriptor_;
  std::uint16_t port_ = 0;
};

// Tries, and closes what came of it.
bool accepts_connections(std::uint16_t port);

// A port of the system's choice that refuses connections while this lives, except to a program
// that is told to listen there: nobody else is given it meanwhile.
class ReservedPort {
 public:
  ReservedPort();

  std::uint16_t port() const { return port_; }

 private:
  Descriptor descriptor_;  // bound with SO_REUSEADDR, as that program must, and never listening
  std::uint16_t port_;
};

}  // namespace support
