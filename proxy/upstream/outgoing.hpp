// One thread's connections to origins and neighbours.
#pragma once

#include "config/settings.hpp"
#include "proxy/lists/access_lists.hpp"
#include "proxy/upstream/connect.hpp"
#include "proxy/upstream/fetch.hpp"
#include "proxy/upstream/known_answers.hpp"
#include "proxy/upstream/name_health.hpp"
#include "proxy/upstream/origin_clocks.hpp"
#include "proxy/upstream/pool.hpp"

namespace proxy::upstream {

// What all threads know of the servers that they ask. Outlives all questions. Any thread may use
// it.
struct Shared {
  Shared(TlsClient& for_all, machine::Clock& clock) : tls(for_all), traffic(clock) {}

  TlsClient& tls;
  OriginHealth health{};
  NameHealth names{};
  OriginClocks clocks{};
  OriginTraffic traffic;
  RangeRefusals range_refusals{};
  KnownAnswers tokens{};  // of registries
  KnownAnswers tags{};    // what they name
};

// Belongs to one thread.
struct Outgoing {
  struct Of {
    net::Executor executor;  // of the thread, as are the next two
    net::Deadlines& deadlines;
    net::BufferPool& buffers;
    machine::Clock& clock;
    Shared& shared;
    const std::vector<net::tcp::endpoint>& listening;  // the guard allows no connection to these
  };
  Outgoing(const Of& of, DescriptorShortage shortage);

  // Applies the settings and lists to all later connections. Call this before the first connection.
  // Both must live until the next call.
  void follow(const config::Settings& settings, const lists::AccessLists& lists);

  Resolver resolver;
  Guard guard;
  Connector connector;
  Pool pool;
  FailedEndpoints failed;
  Upstream upstream;
};

}  // namespace proxy::upstream
