// All that answers requests: the stores, the neighbours, the threads, and the policy in force.
#pragma once

#include <boost/core/noncopyable.hpp>
#include <optional>
#include <string>

#include "proxy/pages/pulse.hpp"
#include "proxy/server/listener.hpp"
#include "proxy/server/neighbourhood.hpp"
#include "proxy/server/storage.hpp"
#include "proxy/server/worker.hpp"

namespace proxy::server {

// For the main thread.
class Engine : boost::noncopyable {
 public:
  // The facts that are known of this process before it serves. All references outlive the engine.
  struct Inputs {
    Listeners& listeners;
    Storage::InUse in_use;  // see open_disk()
    const observe::ProcessFacts& facts;
    const std::optional<machine::MemoryLimit>& memory;
  };

  // Acquires everything whose acquisition can fail. Throws std::exception with a text for a person.
  // Starts the threads of the disk and the log. Serves no client yet. Each thread of the listeners
  // becomes an I/O thread.
  Engine(policy::PinnedPolicy policy, const Inputs& inputs);
  ~Engine();

  // Starts all threads, and accepts clients.
  void start();

  [[nodiscard]] const policy::PinnedPolicy& policy() const { return policy_; }
  // Requests that begin later follow the policy, and so do our digest and the neighbours that are
  // polled. The sizes of memory and disk are adapted soon.
  void follow(policy::PinnedPolicy policy);

  // Connections to origins that begin later trust the certificates that the system has now.
  bool read_certificates() { return tls_.reload(); }

  [[nodiscard]] Shared& shared() { return shared_; }
  [[nodiscard]] const Shared& shared() const { return shared_; }
  [[nodiscard]] WorkerThreads& workers() { return workers_; }

  // Releases the disk: see Storage::release_disk().
  bool release_disk() { return storage_.release_disk(); }
  void take_disk_back() { storage_.take_disk_back(policy_->settings, clock_); }

  // Stops polling neighbours, and soon releases the memory of stored responses. Call this in a
  // process that lives on only to finish its downloads.
  void serve_no_more();

  // Stops all threads. Coroutines still exist, so the objects that they refer to must live on. Ends
  // the process if a thread waits for a disk that does not answer. Calls `waits_for` with the name
  // of each thread before it waits for it, and without a name for the disk, which is given up by
  // itself.
  void stop(const WorkerThreads::WaitsFor& waits_for = [](const std::string&) {});
  // Writes what is stored and logged, in a process that is about to end while threads run. Any
  // thread may call this.
  void rescue();
  [[nodiscard]] const Neighbourhood& neighbourhood() const { return neighbourhood_; }
  static constexpr const char* kControl = "the control thread";
  // Call this after stop(), and after the end of those coroutines of the main thread that a
  // coroutine of a worker waits for.
  void end_coroutines();

 private:
  void accept_clients_everywhere();
  void follow_sizes(const policy::PinnedPolicy& policy);

  policy::PinnedPolicy policy_;
  Listeners& listeners_;
  machine::Clock clock_;
  Storage storage_;
  Neighbourhood neighbourhood_;
  upstream::TlsClient tls_;
  Loop aside_;
  Shared shared_;
  GivingWay giving_way_{aside_, storage_, shared_.tiers};
  WorkerThreads workers_;
  pages::Pulse pulse_;
};

}  // namespace proxy::server
