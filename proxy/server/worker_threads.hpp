// The threads that serve, and the one for work that would hold them up.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "proxy/worker/worker.hpp"

namespace proxy {

// For the main thread alone.
class WorkerThreads {
 public:
  // `process` and `aside` outlive it. No thread runs yet, and no worker has a policy.
  WorkerThreads(Process& process, Loop& aside, std::size_t count);
  ~WorkerThreads() { stop(); }
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  // Each worker follows the policy from the next thing on that its thread does. Returns at once.
  void follow(const PinnedPolicy& policy);

  // Runs `work` on each worker's thread, once that runs.
  void on_each(const std::function<void(Worker&)>& work);

  // After the first follow().
  void start();

  // Returns when no thread runs any more. What their coroutines refer to is still needed.
  void stop();
  // After stop(): all coroutines go before any worker does, as a fill's readers may be on others.
  void end_coroutines();

  // While no thread runs.
  [[nodiscard]] std::deque<Worker>& workers() { return workers_; }

 private:
  Loop& aside_;
  std::deque<Worker> workers_;
  std::vector<std::jthread> running_;
};

}  // namespace proxy
