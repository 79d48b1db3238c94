// The I/O threads, what all of them share, and one thread for work that takes too long for them.
#pragma once

#include <atomic>
#include <boost/core/noncopyable.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "proxy/client/client.hpp"
#include "proxy/fill/site_fetches.hpp"
#include "proxy/net/wait_list.hpp"
#include "proxy/pages/pages_access.hpp"
#include "proxy/server/storage.hpp"
#include "proxy/upstream/outgoing.hpp"

namespace proxy::server {

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
    crowd::DescriptorLimits descriptors = crowd::descriptor_limits(~std::size_t{0}, 0);
    const observe::ProcessFacts* facts = nullptr;  // null: unknown
    std::optional<machine::MemoryLimit> memory_limit = {};
  };
  explicit Shared(Of of);

  pages::Instance instance;
  tiers::Tiers tiers;
  tiers::Cache cache;
  blocks::BlockRuns& runs;
  upstream::Shared upstream;
  struct {
    fill::SiteFetches fetches;
    fill::UnsharedPaths unshared_paths;
  } site;
  users::PasswordChecks password_checks;
  crowd::Crowd crowd;
  // Connections that wait for room.
  struct {
    net::WaitList others;
    net::WaitList watching;  // those whose clients watch over this proxy
  } newcomers;
  observe::Observed observed;
  pages::Visitors visitors;
  pages::PagesAccess pages;
};

// An io_context whose coroutines can be destroyed before the objects that they refer to.
class Loop : public net::asio::io_context {
 public:
  Loop() : io_context(1) {  // one thread runs it
    net::Wakeup::prepare(*this);
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
  [[nodiscard]] const policy::PinnedPolicy& policy() const { return policy_; }
  // Later requests follow `policy`; those under way keep the policy that they pinned.
  void follow(policy::PinnedPolicy policy);

  Shared& shared;
  Loop io;
  net::Deadlines deadlines;
  net::BufferPool buffers;
  net::Pipes pipes;
  std::string spare_url;  // memory for the URL of the next request: see http::Target
  upstream::Outgoing outgoing;
  crowd::CrowdOfThread crowd;
  std::vector<std::unique_ptr<net::Acceptor>> acceptors;
  observe::ObservedByThread observed;
  // The struct that each room is given. Each one refers to the one before it.
  struct Given {
    tiers::CacheAccess cache;
    sources::SourceAccess sources;
    blocks::FetchAccess fetching;
    client::ServeAccess serving;
  } given;

 private:
  policy::PinnedPolicy policy_;
};

// The number of I/O threads that the settings ask for: one per core by default.
std::size_t thread_count(const config::Settings& settings);

// The I/O threads. Only the main thread calls these functions, except on_each().
class WorkerThreads : boost::noncopyable {
 public:
  // Starts no thread and gives no worker a policy. `shared` and `aside` outlive this object.
  WorkerThreads(Shared& shared, Loop& aside, std::size_t count);
  ~WorkerThreads() { stop(); }

  // Posts the policy to each worker, whose thread then follows it. Returns at once.
  void follow(const policy::PinnedPolicy& policy);

  // Lets the first thread that has time ask the name servers for the host. Returns at once.
  void ask_for_name(const std::string& host);
  // Posts `work` to each worker's thread. Returns at once; before start() the work waits. Any
  // thread.
  void on_each(const std::function<void(Worker&)>& work);

  // Starts all threads. Call this after the first follow().
  void start();

  // Returns when all threads have ended. Coroutines still exist, so the objects that they refer to
  // must live on. Calls `waits_for` with the name of each thread before it waits for it.
  using WaitsFor = std::function<void(std::string)>;
  void stop(const WaitsFor& waits_for = [](const std::string&) {});
  // Destroys all coroutines before any worker, since a fill's readers may belong to other workers.
  // Call this after stop().
  void end_coroutines();

  [[nodiscard]] std::size_t count() const { return workers_.size(); }
  [[nodiscard]] static std::string name_of(std::size_t worker);  // by its place
  static constexpr const char* kAside = "the thread for long work";
  // All workers. Call this only while no thread runs.
  [[nodiscard]] std::deque<Worker>& workers() { return workers_; }

 private:
  Loop& aside_;
  std::deque<Worker> workers_;
  std::vector<std::jthread> running_;  // the one aside first
};

}  // namespace proxy::server
