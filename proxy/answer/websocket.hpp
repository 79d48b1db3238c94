// WebSocket: a connection becomes a tunnel once the origin has answered 101.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/upstream/fetch.hpp"

namespace proxy {

// Sends on the 101 that `fetch` has got, then carries bytes both ways as carry_both() does.
// Preconditions: the 101 fits the request (http::becomes_websocket), and the client's side has a
// raw connection. `reason`: why the request went forward.
net::Task<void> become_websocket(Client& client, Fetch& fetch, http::Forward reason);

}  // namespace proxy
