// What all threads share, and what each I/O thread has of its own.
#pragma once

#include <atomic>
#include <string>

#include "config/settings.hpp"
#include "peers/publisher.hpp"
#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "proxy/fill/block_runs.hpp"
#include "proxy/fill/fills.hpp"
#include "proxy/net/clock.hpp"
#include "proxy/observe/access_log.hpp"
#include "proxy/observe/metrics.hpp"
#include "proxy/request/policy.hpp"
#include "proxy/wire/input.hpp"
#include "proxy/worker/outgoing.hpp"
#include "proxy/worker/sampling.hpp"
#include "proxy/worker/session_list.hpp"

namespace proxy {

// What a process has one of, for as long as it runs: what is configured anew while it runs is the
// Policy's. Outlives all workers; what is not const is made for many threads. More members than a
// class should have: each is a thing by itself, and nothing here acts on two of them.
struct Process {
  const std::string name;
  const std::vector<net::tcp::endpoint>& listening;
  WallClock& clock;
  cache::Budget& budget;   // of what is stored or going to be
  cache::Budget& transit;  // of bodies that are passed on
  cache::Store& store;
  cache::DiskTier* disk = nullptr;                        // null: memory is all there is
  const std::optional<config::ByteSize> max_object = {};  // the setting cache.max_object
  Fills& fills;
  BlockRuns& runs;
  peers::Publisher& publisher;
  Metrics& metrics;
  AccessLog& log;
  upstream::TlsClient& tls;
  net::Executor aside;  // of a thread for work that would hold up an I/O thread

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

// One I/O thread's own things; everything in it is used on that thread only, or before it runs.
struct Worker {
  // follow() has to be called before a request begins.
  Worker(Process& of_all, std::size_t number);

  // The policy in force, for a request to pin when it begins. Its count of users is the thread's
  // own, so that threads do not write to one cache line for each request.
  [[nodiscard]] const PinnedPolicy& policy() const { return policy_; }
  // Requests that begin from now on follow `policy`; those under way keep what they pinned.
  void follow(PinnedPolicy policy);

  Process& process;
  Loop io;
  net::Deadlines deadlines;
  BufferPool buffers;
  Outgoing outgoing;
  SessionList sessions;
  Sampling sampling;
  std::vector<std::unique_ptr<net::Acceptor>> acceptors;
  ThreadCounters& counters;
  AccessLog::Lines& log;

 private:
  PinnedPolicy policy_;
};

}  // namespace proxy
