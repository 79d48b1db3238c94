// One client's connection, from its first byte to its last.
#pragma once

#include "proxy/client/client.hpp"

namespace proxy {

// Reads requests, answers them in order, and closes. Runs on the worker's thread; destroyed when
// done. While the connection is idle it holds no buffer.
net::Task<void> run_session(Worker& worker, net::Socket socket);

}  // namespace proxy
