// One client's connection over HTTP/1, from its first byte to its last.
#pragma once

#include "proxy/net/asio.hpp"
#include "proxy/worker/worker.hpp"

namespace proxy {

// Reads requests, answers them in order, and closes the connection. Runs on the worker's thread.
// While the connection is idle, it holds no buffer.
net::Task<void> run_session(Worker& worker, net::Socket socket);

}  // namespace proxy
