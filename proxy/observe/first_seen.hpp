// Since when each thing does not work that /health names.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "peers/threads/mutex.hpp"

namespace proxy {

// For things of which nothing else knows when they began. One thread calls look() regularly;
// since() is for any thread.
class FirstSeen {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `names`: of all that do not work at `now`. What works again is forgotten.
  void look(const std::vector<std::string>& names, Time now) EXCLUDES(mutex_) {
    std::map<std::string, Time> seen;
    const threads::MutexLock lock(mutex_);
    for (const auto& name : names) {
      const auto known = seen_.find(name);
      seen.emplace(name, known == seen_.end() ? now : known->second);
    }
    seen_ = std::move(seen);
  }
  // When look() first saw it; `now` if it has not yet.
  [[nodiscard]] Time since(const std::string& name, Time now) const EXCLUDES(mutex_) {
    const threads::MutexLock lock(mutex_);
    const auto known = seen_.find(name);
    return known == seen_.end() ? now : known->second;
  }

 private:
  mutable threads::Mutex mutex_;
  std::map<std::string, Time> seen_ GUARDED_BY(mutex_);
};

}  // namespace proxy
