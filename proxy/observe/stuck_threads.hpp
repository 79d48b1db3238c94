// The threads of this process that do not get on.
#pragma once

#include <string>
#include <vector>

#include "peers/threads/mutex.hpp"

namespace proxy {

// The watchdog sets the names of the threads that are stuck, and /health shows them. Any thread.
class StuckThreads {
 public:
  void set(std::vector<std::string> names) EXCLUDES(mutex_) {
    const threads::MutexLock lock(mutex_);
    names_ = std::move(names);
  }
  [[nodiscard]] std::vector<std::string> names() const EXCLUDES(mutex_) {
    const threads::MutexLock lock(mutex_);
    return names_;
  }

 private:
  mutable threads::Mutex mutex_;
  std::vector<std::string> names_ GUARDED_BY(mutex_);
};

}  // namespace proxy
