// One client and one origin of a proxy, both played by one thread, byte for byte as told.
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
  // What the origin says once it has got these bytes on a connection, on which nothing is said but
  // that; none: it waits for more.
  using Answer = std::function<std::optional<std::string>(std::string_view got)>;
  struct Played {
    std::string at_client;               // to the end of the connection
    bool was_reset = false;              // which was no orderly one
    std::vector<std::string> at_origin;  // per connection that came
  };

  explicit Pump(std::uint16_t proxy_port);

  std::uint16_t port() const { return port_; }  // of the origin
  // What the origin does with a connection once it has answered.
  enum class After {
    ends,   // it closes, and waits for the proxy to close
    drops,  // it closes
    keeps,  // it stays open, also in the next calls
  };
  // Sends these bytes, then the end of the stream, and waits until the client's connection has
  // ended, and those of the origin that are not answered. TimedOut after kPatience.
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
