// Tunnels: carries bytes both ways after CONNECT or a change of protocol.
#pragma once

#include <string>
#include <string_view>

#include "proxy/client/client.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/upstream/fetch.hpp"

namespace proxy::answer {

// Answers CONNECT: asks the parents of the route for a tunnel, and connects to the host itself if
// none has a way there and the settings allow it. Refuses the request (a loop, a body, offline, no
// connection to the host), or carries bytes both ways until carry_both() ends. Precondition:
// check_access() has allowed the port. The connector checks the resolved address.
net::Task<void> tunnel(client::Client& client, const policy::Request& request);

// The two sides of a tunnel, and the bytes that each side is sent first.
struct TunnelEnds {
  client::RawConnection client;
  net::Stream& server;
  std::string head;                   // to the client: the response that begins the tunnel
  std::string_view from_server = {};  // bytes that the server sent after its own response head
};

// Sends `head` and `from_server` to the client, and the bytes that the client sent after its
// request to the server. Then carries bytes both ways. Neither connection speaks HTTP again.
// Returns when both sides have ended, or after the setting timeouts.body without any bytes.
net::Task<void> carry_both(client::Client& client, TunnelEnds& ends);

// WebSocket: passes on the 101 that `fetch` has received, then carries bytes both ways. The 101
// fits the request (http::becomes_websocket), and the client's side has a raw connection.
// `reason`: why the request was forwarded.
net::Task<void> become_websocket(client::Client& client, upstream::Fetch& fetch,
                                 http::Forward reason);

}  // namespace proxy::answer
