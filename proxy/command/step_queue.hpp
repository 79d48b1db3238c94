// The steps of one run of `hearsay fetch`, which several threads carry out.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "peers/threads/mutex.hpp"
#include "proxy/command/fetch_plan.hpp"

namespace proxy::command {

// The steps of a run, and what became of them. Any thread.
class StepQueue {
 public:
  // Takes steps that nobody has named before.
  void add(std::vector<FetchStep> steps) EXCLUDES(mutex_);
  // Waits for a step, while others may name one. Nothing: all is done, or given up.
  std::optional<FetchStep> next() EXCLUDES(mutex_);
  // `why`: the step has failed; empty: it has not.
  void end(const FetchStep& step, const std::string& why) EXCLUDES(mutex_);
  void give_up() EXCLUDES(mutex_);
  [[nodiscard]] const std::atomic<bool>& gives_up() const { return gives_up_; }
  bool is_over() EXCLUDES(mutex_) {
    const threads::MutexLock lock(mutex_);
    return has_ended();
  }

  struct Told {
    std::size_t all = 0;
    std::size_t done = 0;
    std::vector<std::string> failures = {};
  };
  Told tell() EXCLUDES(mutex_) {
    const threads::MutexLock lock(mutex_);
    return told_;
  }

 private:
  [[nodiscard]] bool has_ended() const REQUIRES(mutex_) {
    return gives_up_ || (steps_.empty() && under_way_ == 0);
  }

  threads::Mutex mutex_;
  threads::Condition changed_;
  std::deque<FetchStep> steps_ GUARDED_BY(mutex_);
  std::set<std::string> named_ GUARDED_BY(mutex_);
  std::size_t under_way_ GUARDED_BY(mutex_) = 0;
  Told told_ GUARDED_BY(mutex_);
  std::atomic<bool> gives_up_ = false;
};

}  // namespace proxy::command
