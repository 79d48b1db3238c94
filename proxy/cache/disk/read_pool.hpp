// Threads that may wait for the disk.
#pragma once

#include <atomic>
#include <boost/core/noncopyable.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "proxy/machine/clock.hpp"

namespace proxy::cache::disk {

// A few threads take jobs from one queue, in the order posted. Any thread may post.
class ReadPool : boost::noncopyable {
 public:
  using Job = std::function<void()>;

  // The clock outlives the pool. A job must not throw. At most `waiting` jobs wait.
  explicit ReadPool(const machine::Clock& clock, std::size_t threads = 4,
                    std::size_t waiting = 4096);
  // Runs every posted job, however long that takes.
  ~ReadPool();

  enum class Posted : std::uint8_t {
    yes,
    too_many,  // jobs wait: the caller treats the read as a miss
  };
  [[nodiscard]] Posted post(Job job);

  // Waits until no job waits or runs. Returns whether that came about within `limit`. For tests.
  [[nodiscard]] bool settle(std::chrono::milliseconds limit);
  // Whether a job has run for longer than this, so that the disk does not seem to answer.
  [[nodiscard]] bool hangs(std::chrono::milliseconds limit) const;
  enum class End : std::uint8_t {
    joined,
    hangs,  // a job has run for longer than `limit`: the pool cannot be destroyed before it returns
  };
  // Takes no more jobs, and waits until all posted ones have run, or one has run for longer than
  // `limit`.
  [[nodiscard]] End end(std::chrono::milliseconds limit);

 private:
  using Duration = machine::Clock::SteadyTime::duration;
  // When a thread began its job; 0: the thread has no job.
  using Begun = std::atomic<Duration::rep>;

  void run(Begun& begun);

  const machine::Clock& clock_;
  const std::size_t most_;
  threads::Mutex mutex_;
  threads::Condition posted_;
  threads::Condition ended_;
  threads::Condition idle_;
  std::deque<Job> jobs_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::size_t running_ GUARDED_BY(mutex_);      // threads
  std::size_t working_ GUARDED_BY(mutex_) = 0;  // threads with a job
  const std::unique_ptr<Begun[]> begun_;
  std::vector<std::thread> threads_;
};

}  // namespace proxy::cache::disk
