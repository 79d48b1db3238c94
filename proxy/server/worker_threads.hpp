// The I/O threads, and one thread for work that takes too long for an I/O thread.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "proxy/server/worker.hpp"

namespace proxy {

// The number of I/O threads that the settings ask for: one per core by default.
std::size_t thread_count(const config::Settings& settings);

// For the main thread alone, except on_each().
class WorkerThreads {
 public:
  // Starts no thread and gives no worker a policy. `process` and `aside` outlive this object.
  WorkerThreads(Shared& shared, Loop& aside, std::size_t count);
  ~WorkerThreads() { stop(); }
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  // Posts the policy to each worker, whose thread then follows it. Returns at once.
  void follow(const PinnedPolicy& policy);

  // Has the first thread that has time ask the name servers for the host. Returns at once.
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
  // Only while no thread runs.
  [[nodiscard]] std::deque<Worker>& workers() { return workers_; }

 private:
  Loop& aside_;
  std::deque<Worker> workers_;
  std::vector<std::jthread> running_;  // the one aside first
};

}  // namespace proxy
