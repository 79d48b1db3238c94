// CONNECT, and other exchanges that become bytes both ways.
#pragma once

#include <string>
#include <string_view>

#include "proxy/client/client.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

// Answers CONNECT: refuses it (a loop, a body, offline, no route to the host), or carries bytes
// both ways until carry_both() ends. Precondition: check_access() has allowed the port. The
// resolved address is checked when it is connected to.
net::Task<void> tunnel(Client& client, const Request& request);

// Where a tunnel leads, and what each side is sent first.
struct TunnelEnds {
  RawConnection client;
  net::Stream& server;
  std::string head;                   // to the client: the response that begins the tunnel
  std::string_view from_server = {};  // bytes that the server sent after its own response head
};

// Sends the client `head` and `from_server`, and the server what the client sent after its request.
// Then carries bytes both ways. Neither connection speaks HTTP again. Returns when both sides are
// done, or when nothing has moved for the setting timeouts.body.
net::Task<void> carry_both(Client& client, TunnelEnds& ends);

}  // namespace proxy
