// One thread's connections to origins and neighbours.
#pragma once

#include "proxy/policy/policy.hpp"
#include "proxy/upstream/connect.hpp"
#include "proxy/upstream/fetch.hpp"
#include "proxy/upstream/pool.hpp"

namespace proxy {

// Belongs to one thread.
struct Outgoing {
  // `listening`: our own sockets, to which the guard allows no connection.
  Outgoing(net::Executor executor, net::Deadlines& deadlines, BufferPool& buffers,
           upstream::TlsClient& tls, upstream::OriginHealth& health, upstream::NameHealth& names,
           upstream::TrafficOfThread& traffic, const std::vector<net::tcp::endpoint>& listening,
           upstream::DescriptorShortage shortage);

  // Applies the policy to all later connections. Call this before the first connection. The policy
  // must live until the next call.
  void follow(const Policy& policy);

  upstream::Resolver resolver;
  upstream::Guard guard;
  upstream::Connector connector;
  upstream::Pool pool;
  upstream::FailedEndpoints failed;
  Upstream upstream;
};

}  // namespace proxy
