// One client's connection over HTTP/1, from its first byte to its last.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/net/asio.hpp"
#include "proxy/server/worker.hpp"

namespace proxy {

// Reads requests, answers them in order, and closes the connection. Runs on the worker's thread.
// While the connection waits for a request, it holds no buffer. `remote`: the client's address and
// port. `guest`: the connection as counted. While the proxy drains, a connection by Door::control
// is still served.
net::Task<void> run_session(Worker& worker, net::AnySocket socket, net::tcp::endpoint remote,
                            ClientTable::Guest guest, Door door);

}  // namespace proxy
