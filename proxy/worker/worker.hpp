// The state that all threads share, and the state of each I/O thread.
#pragma once

#include <atomic>
#include <string>

#include "config/settings.hpp"
#include "peers/publisher.hpp"
#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "proxy/fill/fills.hpp"
#include "proxy/net/clock.hpp"
#include "proxy/observe/access_log.hpp"
#include "proxy/observe/metrics.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/runs/block_runs.hpp"
#include "proxy/wire/input.hpp"
#include "proxy/worker/outgoing.hpp"
#include "proxy/worker/probes.hpp"
#include "proxy/worker/session_list.hpp"

namespace proxy {

// The objects that exist once in the process, for its whole life. Settings that may change while it
// runs belong to Policy. Outlives all workers. Members that are not const are thread-safe. The
// struct has more members than a class should, but they are independent: no function here acts on
// two of them.
struct Process {
  const std::string name;
  const std::vector<net::tcp::endpoint>& listening;
  WallClock& clock;
  cache::Budget& budget;   // of responses that are stored, or arriving to be stored
  cache::Budget& transit;  // of bodies that are passed on unstored
  cache::Store& store;
  cache::DiskTier* disk = nullptr;                        // null: no disk is configured
  const std::optional<config::ByteSize> max_object = {};  // the setting cache.max_object
  Fills& fills;
  BlockRuns& runs;
  peers::Publisher& publisher;
  Metrics& metrics;
  AccessLog& log;
  upstream::TlsClient& tls;
  net::Executor aside;  // one thread, for work that would hold up an I/O thread

  std::atomic<std::size_t> connections{0};
  std::atomic<bool> draining{false};
  std::atomic<bool> verifying{false};  // a request to verify the cache is running
};

// An io_context whose coroutines can be destroyed before the objects that they refer to.
class Loop : public net::asio::io_context {
 public:
  Loop() : io_context(1) {}  // one thread runs it
  // Destroys all coroutines. Call this after run() has returned.
  void end_coroutines() { shutdown(); }
};

// One I/O thread's state, used on that thread only, or before it runs.
struct Worker {
  // Call follow() before a request begins.
  Worker(Process& of_all, std::size_t number);

  // The policy in force, for a request to pin when it begins. Its reference count is the thread's
  // own, so that threads do not write to one cache line for each request.
  [[nodiscard]] const PinnedPolicy& policy() const { return policy_; }
  // Later requests follow `policy`; those under way keep the policy that they pinned.
  void follow(PinnedPolicy policy);

  Process& process;
  Loop io;
  net::Deadlines deadlines;
  BufferPool buffers;
  Outgoing outgoing;
  SessionList sessions;
  Probes probes;
  std::vector<std::unique_ptr<net::Acceptor>> acceptors;
  ThreadCounters& counters;
  AccessLog::Lines& log;

 private:
  PinnedPolicy policy_;
};

}  // namespace proxy
