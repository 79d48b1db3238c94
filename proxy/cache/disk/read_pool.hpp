// Threads that may wait for the disk.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace proxy::cache::disk {

// Runs what it is given, in that order, each on one of a few threads. Any thread may post.
class ReadPool {
 public:
  using Job = std::function<void()>;

  // A job must not throw. At most `waiting` jobs wait.
  explicit ReadPool(std::size_t threads = 4, std::size_t waiting = 4096);
  // Runs all that was posted first.
  ~ReadPool();
  ReadPool(const ReadPool&) = delete;
  ReadPool& operator=(const ReadPool&) = delete;

  // False if too many wait already: then treat it as a miss.
  [[nodiscard]] bool post(Job job);

 private:
  void run();

  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<Job> jobs_;  // guarded
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace proxy::cache::disk
