// One thread's connections to origins and neighbours.
#pragma once

#include "proxy/request/policy.hpp"
#include "proxy/upstream/connect.hpp"
#include "proxy/upstream/fetch.hpp"
#include "proxy/upstream/pool.hpp"

namespace proxy {

// Belongs to one thread.
struct Outgoing {
  // `listening`: our own sockets, which nobody is connected to.
  Outgoing(net::Executor executor, net::Deadlines& deadlines, BufferPool& buffers,
           upstream::TlsClient& tls, const std::vector<net::tcp::endpoint>& listening);

  // What holds for connections from now on: before the first one. The policy outlives its being
  // followed.
  void follow(const Policy& policy);

  upstream::Resolver resolver;
  upstream::Guard guard;
  upstream::Connector connector;
  upstream::Pool pool;
  upstream::FailedEndpoints failed;
  Upstream upstream;
};

}  // namespace proxy
