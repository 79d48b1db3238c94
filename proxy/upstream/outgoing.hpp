// One thread's connections to origins and neighbours.
#pragma once

#include "config/settings.hpp"
#include "proxy/lists/access_lists.hpp"
#include "proxy/upstream/connect.hpp"
#include "proxy/upstream/fetch.hpp"
#include "proxy/upstream/pool.hpp"
#include "proxy/upstream/shared.hpp"

namespace proxy {

// Belongs to one thread.
struct Outgoing {
  struct Of {
    net::Executor executor;  // of the thread, as are the next two
    net::Deadlines& deadlines;
    BufferPool& buffers;
    machine::Clock& clock;
    upstream::Shared& shared;
    const std::vector<net::tcp::endpoint>& listening;  // the guard allows no connection to these
  };
  Outgoing(const Of& of, upstream::DescriptorShortage shortage);

  // Applies the settings and lists to all later connections. Call this before the first connection.
  // Both must live until the next call.
  void follow(const config::Settings& settings, const lists::AccessLists& lists);

  upstream::Resolver resolver;
  upstream::Guard guard;
  upstream::Connector connector;
  upstream::Pool pool;
  upstream::FailedEndpoints failed;
  Upstream upstream;
};

}  // namespace proxy
