// What a connection is after a 101: a tunnel.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/upstream/fetch.hpp"

namespace proxy {

// `fetch` has just got a 101 that fits what it asked (http::becomes_websocket). Sends it on, and
// then bytes both ways, the client's that came before it included. Returns as carry_both() does.
net::Task<void> become_websocket(Client& client, Fetch& fetch, http::Forward reason);

}  // namespace proxy
