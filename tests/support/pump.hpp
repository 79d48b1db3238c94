// One client and one origin of a proxy, both played by one thread. It moves plain bytes, as hostile
// messages are often no HTTP, and tests judge the exact bytes by strict_reading.hpp.
#pragma once

#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/socket.hpp"

namespace support {

class Pump {
 public:
  // What the origin sends on a connection that received these bytes, as the only answer on it; none
  // to wait for more bytes.
  using Answer = std::function<std::optional<std::string>(std::string_view got)>;
  struct Played {
    std::string at_client;               // all that the client received
    bool was_reset = false;              // a reset ended the client's connection
    std::vector<std::string> at_origin;  // received, per connection
  };

  explicit Pump(std::uint16_t proxy_port);

  std::uint16_t port() const { return port_; }  // of the origin
  // What the origin does with a connection after its answer.
  enum class After {
    ends,   // closes it, and waits for the proxy to close
    drops,  // closes it
    keeps,  // leaves it open, for the next calls too
  };
  // Sends these bytes and the end of the stream. Waits until the client's connection has ended, and
  // each of the origin's is answered or has ended. Throws TimedOut after kPatience.
  Played play(std::string_view from_client, const Answer& answer, After after = After::ends);

 private:
  struct Connection {
    Descriptor descriptor;
    std::string got;
    bool answered = false;
    bool over = false;
  };

  void accept_waiting();
  void serve(Connection& connection, const Answer& answer, After after);

  const std::uint16_t proxy_port_;
  Descriptor listening_;
  std::uint16_t port_ = 0;
  std::list<Connection> connections_;
};

}  // namespace support
