// Lets clients in, as many as the limits allow, and serves each connection from its first byte to
// its last.
#pragma once

#include <memory>

#include "proxy/client/client.hpp"
#include "proxy/net/asio.hpp"
#include "proxy/server/worker.hpp"

namespace proxy::server {

// Accepts connections until the acceptor is closed. Each accepted connection is served by a
// coroutine of its own on the worker's thread. While the proxy drains, a new connection is for one
// request, for our own pages.
net::Task<void> accept_clients(Worker& worker, net::Acceptor& acceptor);

// Accepts connections at the control socket until the acceptor is closed, also while the proxy
// drains. At most 32 at once; none of them counts as a client's.
net::Task<void> accept_operators(Worker& worker, std::shared_ptr<net::LocalAcceptor> acceptor);

// Serves a new connection until it ends, on the worker's thread. If a limit is reached, connections
// that wait for a request are closed to make room; without such connections, the new one is closed
// unanswered, for a Squid would pass a 503 on to its user. Monitors, admins and neighbours that
// have sent a request are then let in to a reserve, for our own pages only.
net::Task<void> serve_client(Worker& worker, net::Socket socket);

// A connection over HTTP/1: reads requests, answers them in order, and closes the connection. Runs
// on the worker's thread. While the connection waits for a request, it holds no buffer. `remote`:
// the client's address and port. `guest`: the connection as counted. While the proxy drains, a
// connection by Door::control is still served.
net::Task<void> run_session(Worker& worker, net::AnySocket socket, net::tcp::endpoint remote,
                            crowd::ClientTable::Guest guest, policy::Door door);

}  // namespace proxy::server
