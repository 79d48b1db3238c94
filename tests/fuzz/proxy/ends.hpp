// The far ends of the proxy's connections: its clients, and the servers that it asks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tests/fuzz/proxy/system.hpp"

namespace fuzz {

// One end of a connection, with all bytes that went either way. It never waits.
class End {
 public:
  explicit End(support::Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

  // Does nothing after finish().
  void send(std::string_view bytes) {
    if (!finishing_) sent_ += bytes;
  }
  // Closes the direction to the proxy once all bytes are sent.
  void finish() { finishing_ = true; }
  void leave() { descriptor_.close(); }
  void reads(bool whether) { reads_ = whether; }

  // Moves what can be moved. Returns whether anything moved.
  bool exchange();

  const std::string& sent() const { return sent_; }
  const std::string& received() const { return received_; }
  bool is_open() const { return descriptor_.number() >= 0; }

 private:
  bool receive();
  bool transmit();

  support::Descriptor descriptor_;
  std::string sent_;
  std::size_t transmitted_ = 0;  // of sent_
  std::string received_;
  bool reads_ = true;
  bool finishing_ = false;
  bool finished_ = false;
};

using ClientEnd = End;

// A connection to an origin or a neighbour.
class ServerEnd : public End {
 public:
  explicit ServerEnd(System::Connection connection)
      : End(std::move(connection.far)),
        address(std::move(connection.address)),
        port(connection.port) {}

  // As End::exchange(). Aborts if the proxy sends a request on a connection whose last answer is
  // not over, or has bytes after it.
  bool exchange();
  void answer(std::string_view bytes);

  // Bytes have arrived since the last answer.
  bool waits() const { return is_open() && received().size() > answered_; }
  bool is_neighbour() const { return address.starts_with("10.9.0."); }
  // Bytes of a tunnel or of TLS, which are no messages.
  bool is_opaque() const { return port == 443; }

  const std::string address;
  const std::uint16_t port;

 private:
  std::size_t answered_ = 0;  // bytes received before the last answer
};

}  // namespace fuzz
