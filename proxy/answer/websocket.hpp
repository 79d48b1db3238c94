// WebSocket: after the origin's 101 a connection becomes a tunnel.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/upstream/fetch.hpp"

namespace proxy {

// Passes on the 101 that `fetch` has received, then carries bytes both ways, as carry_both().
// Preconditions: the 101 fits the request (http::becomes_websocket), and the client's side has a
// raw connection. `reason`: why the request was forwarded.
net::Task<void> become_websocket(Client& client, Fetch& fetch, http::Forward reason);

}  // namespace proxy
