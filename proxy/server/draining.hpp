// The end of a proxy that has clients: no more connections, and time for those that are open.
#pragma once

#include "proxy/server/control_socket.hpp"
#include "proxy/server/engine.hpp"
#include "proxy/server/listener.hpp"

namespace proxy {

// Where clients, and operators of this machine, come in.
struct Sockets {
  Listeners& listeners;
  ControlSocket& control;
};

// For the main thread, whose loop `io` is.
class Draining {
 public:
  // All outlive this object.
  Draining(Loop& io, Sockets sockets, Engine& engine)
      : io_(io), sockets_(sockets), engine_(engine) {}

  // Connections that are not accepted yet are left to a successor, which has the same sockets.
  // Returns when no connection is accepted any more, and those accepted before are counted.
  void close_to_all();
  // For a successor's predecessor: as close_to_all(), and each open connection ends with its next
  // response. Returns when all have ended, or after the setting timeouts.drain.
  void leave();
  // Each open connection ends with its next response. New connections are for our own pages only,
  // so that /health says that this proxy drains; all else gets 503.
  void drain();
  // Returns when all connections that began before drain() have ended, or after the setting
  // timeouts.drain: then says how many are left.
  void await_end_of_connections();

 private:
  void close_acceptors();

  Loop& io_;
  const Sockets sockets_;
  Engine& engine_;
};

}  // namespace proxy
