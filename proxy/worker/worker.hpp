// What all threads share, and what each I/O thread has of its own.
#pragma once

#include <atomic>
#include <string>

#include "config/settings.hpp"
#include "peers/directory.hpp"
#include "peers/publisher.hpp"
#include "proxy/cache/disk_tier.hpp"
#include "proxy/fill/block_runs.hpp"
#include "proxy/fill/fills.hpp"
#include "proxy/lists/access_lists.hpp"
#include "proxy/net/clock.hpp"
#include "proxy/observe/access_log.hpp"
#include "proxy/observe/metrics.hpp"
#include "proxy/request/gateway.hpp"
#include "proxy/request/site_rules.hpp"
#include "proxy/upstream/connect.hpp"
#include "proxy/upstream/fetch.hpp"
#include "proxy/upstream/pool.hpp"
#include "proxy/wire/input.hpp"
#include "proxy/worker/sampling.hpp"
#include "proxy/worker/session_list.hpp"

namespace proxy {

// Outlives all workers. What is not const is made for many threads.
struct Shared {
  const config::Settings& settings;
  const std::string name;
  const std::vector<net::tcp::endpoint>& listening;
  const lists::AccessLists& lists;
  Clock& clock;
  cache::Budget& budget;   // of what is stored or going to be
  cache::Budget& transit;  // of bodies that are passed on
  cache::Store& store;
  cache::DiskTier* disk = nullptr;  // null: memory is all there is
  Fills& fills;
  BlockRuns& runs;
  Gateway& gateway;
  const SiteRules& rules;
  peers::PeerDirectory& directory;
  peers::Publisher& publisher;
  Metrics& metrics;
  AccessLog& log;
  upstream::TlsClient& tls;
  net::Executor aside;  // of a thread for work that would hold up an I/O thread

  // How long, by the settings, a stale response may answer after this: an origin that is out of
  // reach.
  [[nodiscard]] std::chrono::seconds leave_after(const Failure& failure) const {
    if (!out_of_reach(failure)) return std::chrono::seconds(0);
    return std::chrono::floor<std::chrono::seconds>(settings.cache.stale_if_error);
  }
  std::atomic<std::size_t> connections{0};
  std::atomic<bool> draining{false};
  std::atomic<bool> verifying{false};  // the disk, for somebody
};

// An io_context whose coroutines can be ended while what they refer to is still there.
class Loop : public net::asio::io_context {
 public:
  Loop() : io_context(1) {}  // one thread runs it
  // After run() has returned, and before anything that a coroutine refers to goes.
  void end_coroutines() { shutdown(); }
};

// One I/O thread's own things; everything in it is used on that thread only.
struct Worker {
  Worker(Shared& shared_by_all, std::size_t number);

  Shared& shared;
  Loop io;
  net::Deadlines deadlines;
  BufferPool buffers;
  upstream::Resolver resolver;
  upstream::Guard guard;
  upstream::Connector connector;
  upstream::Pool pool;
  upstream::FailedEndpoints failed;
  SessionList sessions;
  Sampling sampling;
  std::vector<std::unique_ptr<net::Acceptor>> acceptors;
  Upstream upstream;
  Counters& counters;
  AccessLog::Lines& log;
};

}  // namespace proxy
