// The end of a proxy that has clients: no more connections, and time for those that are open.
#pragma once

#include <functional>

#include "proxy/server/control_socket.hpp"
#include "proxy/server/engine.hpp"
#include "proxy/server/listener.hpp"
#include "proxy/server/signals.hpp"

namespace proxy {

// Where clients, and operators of this machine, come in.
struct Sockets {
  Listeners& listeners;
  ControlSocket& control;
};

// For the main thread, which goes on to handle signals meanwhile.
class Draining {
 public:
  // All outlive this object.
  Draining(Signals& signals, Sockets sockets, Engine& engine)
      : signals_(signals), sockets_(sockets), engine_(engine) {}

  // Connections that are not accepted yet are left to a successor, which has the same sockets.
  // Returns when no connection is accepted any more, and those accepted before are counted.
  void close_to_all();
  // For a successor's predecessor: as close_to_all(), and each open connection ends with its next
  // response. Returns when all have ended and `is_needed` says no, after the setting
  // timeouts.hand_over, or when told to end.
  void leave(const std::function<bool()>& is_needed);
  // Each open connection ends with its next response. New connections are for our own pages only,
  // so that /health says that this proxy drains; all else gets 503. Returns when all connections
  // that began before have ended, or after the setting timeouts.drain: then says how many are left.
  // After leave(), waits only if that was told to end.
  void drain();

 private:
  void close_acceptors();
  [[nodiscard]] std::size_t open_connections() const;

  Signals& signals_;
  const Sockets sockets_;
  Engine& engine_;
};

}  // namespace proxy
