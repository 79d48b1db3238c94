// One I/O thread, and what all of them share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "proxy/client/serve_access.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/pages/pages_access.hpp"
#include "proxy/server/storage.hpp"
#include "proxy/upstream/outgoing.hpp"

namespace proxy {

// Owns what all threads share, beside the storage. No other room sees it: `server` gives each room
// a struct of what that room needs. Outlives all workers.
struct Shared {
  struct Of {
    std::string name;  // of this proxy
    const std::vector<net::tcp::endpoint>& listening;
    const config::Settings& settings;
    std::size_t threads;
    Storage& storage;
    machine::Clock& clock;
    peers::Publisher& publisher;
    upstream::TlsClient& tls;
    net::Executor aside;  // one thread, for work that would hold up an I/O thread
    DescriptorLimits descriptors = descriptor_limits(~std::size_t{0}, 0);
    const ProcessFacts* facts = nullptr;  // null: unknown
    std::optional<machine::MemoryLimit> memory_limit = {};
  };
  explicit Shared(Of of);

  Instance instance;
  succession::Successor successor;
  Cache cache;
  BlockRuns& runs;
  upstream::Shared upstream;
  SiteFetches site_fetches;
  users::PasswordChecks password_checks;
  Crowd crowd;
  Observed observed;
  Visitors visitors;
  PagesAccess pages;
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
  Worker(Shared& of_all, std::size_t number);

  // The policy in force, for a request to pin when it begins. Its reference count is the thread's
  // own, so that threads do not write to one cache line for each request.
  [[nodiscard]] const PinnedPolicy& policy() const { return policy_; }
  // Later requests follow `policy`; those under way keep the policy that they pinned.
  void follow(PinnedPolicy policy);

  Shared& shared;
  Loop io;
  net::Deadlines deadlines;
  BufferPool buffers;
  net::Pipes pipes;
  std::string spare_url;  // memory for the URL of the next request: see http::Target
  Outgoing outgoing;
  CrowdOfThread crowd;
  std::vector<std::unique_ptr<net::Acceptor>> acceptors;
  ObservedByThread observed;
  CacheAccess cache;
  SourceAccess sources;
  FetchAccess fetching;
  ServeAccess serving;

 private:
  PinnedPolicy policy_;
};

}  // namespace proxy
