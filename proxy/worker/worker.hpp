// The state that all threads share, and the state of each I/O thread.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "config/settings.hpp"
#include "peers/publisher.hpp"
#include "proxy/blocks/block_runs.hpp"
#include "proxy/crowd/bandwidth.hpp"
#include "proxy/crowd/client_table.hpp"
#include "proxy/crowd/descriptors.hpp"
#include "proxy/crowd/doorkeeper.hpp"
#include "proxy/crowd/pressure.hpp"
#include "proxy/crowd/relief.hpp"
#include "proxy/crowd/session_list.hpp"
#include "proxy/crowd/warnings.hpp"
#include "proxy/fill/fills.hpp"
#include "proxy/fill/site_fetches.hpp"
#include "proxy/machine/clock.hpp"
#include "proxy/machine/limits.hpp"
#include "proxy/net/input.hpp"
#include "proxy/net/pipe.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/observe/access_log.hpp"
#include "proxy/observe/busiest.hpp"
#include "proxy/observe/fault.hpp"
#include "proxy/observe/history.hpp"
#include "proxy/observe/metrics.hpp"
#include "proxy/observe/process_facts.hpp"
#include "proxy/observe/recent_requests.hpp"
#include "proxy/observe/refused_neighbours.hpp"
#include "proxy/pages/badges.hpp"
#include "proxy/pages/held_polls.hpp"
#include "proxy/pages/reloaded.hpp"
#include "proxy/pages/watchers.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/sources/source_access.hpp"
#include "proxy/tiers/cache.hpp"
#include "proxy/upstream/origin_clocks.hpp"
#include "proxy/upstream/outgoing.hpp"
#include "proxy/users/password_checks.hpp"

namespace proxy {

struct Worker;
class DiskWatch;

// The objects that exist once in the process, for its whole life. Settings that may change while it
// runs belong to Policy. Outlives all workers. Members that are not const are thread-safe. The
// struct has more members than a class should, but they are independent: no function here acts on
// two of them.
struct Process {
  const std::string name;
  const std::vector<net::tcp::endpoint>& listening;
  machine::Clock& clock;
  Cache& cache;
  cache::Budget& transit;  // of bodies that are passed on unstored
  const DiskWatch* disk_watch = nullptr;
  Fills& fills;
  BlockRuns& runs;
  peers::Publisher& publisher;
  Metrics& metrics;
  AccessLog& log;
  upstream::TlsClient& tls;
  net::Executor aside;                  // one thread, for work that would hold up an I/O thread
  const ProcessFacts* facts = nullptr;  // null: unknown
  std::optional<machine::MemoryLimit> memory_limit = {};

  // Runs the work on each worker's thread, soon. Returns at once. Empty: there is one worker.
  std::function<void(const std::function<void(Worker&)>&)> on_each_worker = {};

  // Reads the settings again on the main thread. Empty: there are none to read.
  std::function<net::Task<Reloaded>()> reload = {};

  ClientTable clients{};
  Bandwidth bandwidth{clock};
  ClientTable operators{};                          // the connections to the control socket
  std::atomic<std::uint64_t> unread_in_transit{0};  // of all clients: see ClientShare
  std::atomic<std::uint64_t> head_bytes{0};         // likewise
  std::atomic<std::uint64_t> leaving_heads{0};      // of requests that were cut and have yet to end
  std::atomic<std::uint64_t> leaving_bytes{0};  // of responses that were cut and have yet to end
  // Connections that wait for room, and those of them whose clients watch over this proxy.
  std::atomic<std::size_t> newcomers{0};
  std::atomic<std::size_t> watching_newcomers{0};
  DescriptorLimits descriptors = descriptor_limits(~std::size_t{0}, 0);
  Warnings warnings{};
  RefusedNeighbours refused_neighbours{};
  users::PasswordChecks password_checks{clock};
  upstream::OriginHealth origin_health{};
  upstream::NameHealth name_health{};
  Fault settings_fault{};  // the last reload has failed
  FirstSeen first_seen{};  // the troubles of /health
  upstream::OriginClocks origin_clocks{};
  upstream::OriginTraffic origin_traffic{clock};
  upstream::RangeRefusals range_refusals{};
  HeldPolls held_polls{};
  SiteFetches site_fetches{};
  History history{};
  RecentRequests recent{};
  Busiest busiest{};
  Watchers watchers{};
  Badges badges{};
  StuckThreads stuck{};
  succession::Successor& successor;
  // A successor serves: each response closes its connection. No connection is closed before, since
  // its client may be about to send a request.
  std::atomic<bool> leaving{false};
  std::atomic<bool> draining{false};
  std::atomic<std::size_t> late_connections{0};  // open ones that began while it drained
  std::atomic<bool> verifying{false};            // a request to verify the cache is running
};

// An io_context whose coroutines can be destroyed before the objects that they refer to.
class Loop : public net::asio::io_context {
 public:
  Loop() : io_context(1) {  // one thread runs it
    Wakeup::prepare(*this);
    net::asio::use_service<net::Poller>(*this);  // its constructor needs a descriptor
  }
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
  net::Pipes pipes;
  std::string spare_url;  // memory for the URL of the next request: see http::Target
  Outgoing outgoing;
  SessionList sessions;
  Relief relief{*this};
  Doorkeeper doorkeeper{*this};
  std::vector<std::unique_ptr<net::Acceptor>> acceptors;
  ThreadCounters& counters;
  CacheAccess cache;
  SourceAccess sources;
  AccessLog::Lines& log;
  RecentRequests::OfThread& recent;

 private:
  PinnedPolicy policy_;
};

}  // namespace proxy
