// Threads that may wait for the disk.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "config/threads/mutex.hpp"

namespace proxy::cache::disk {

// Runs what it is given, in that order, each on one of a few threads. Any thread may post.
class ReadPool {
 public:
  using Job = std::function<void()>;

  // A job must not throw. At most `waiting` jobs wait.
  explicit ReadPool(std::size_t threads = 4, std::size_t waiting = 4096);
  // Runs all that was posted first, however long that takes.
  ~ReadPool();
  ReadPool(const ReadPool&) = delete;
  ReadPool& operator=(const ReadPool&) = delete;

  // False if too many wait already: then treat it as a miss.
  [[nodiscard]] bool post(Job job);

  // Whether a job has been running for longer than that, as where a disk does not answer.
  [[nodiscard]] bool hangs(std::chrono::milliseconds limit) const;
  // Runs all that was posted. False: one hangs; the pool cannot be destroyed before that returns.
  [[nodiscard]] bool end(std::chrono::milliseconds limit);

 private:
  using Clock = std::chrono::steady_clock;
  // Since when a thread runs its job; 0: it has none.
  using Begun = std::atomic<Clock::rep>;

  void run(Begun& begun);

  const std::size_t most_;
  threads::Mutex mutex_;
  threads::Condition posted_;
  threads::Condition ended_;
  std::deque<Job> jobs_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::size_t running_ GUARDED_BY(mutex_);
  const std::unique_ptr<Begun[]> begun_;
  std::vector<std::thread> threads_;
};

}  // namespace proxy::cache::disk
