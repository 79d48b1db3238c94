// The faults that /health lists.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "peers/threads/mutex.hpp"

namespace proxy::observe {

// A fault that lasts until it is mended. Whoever finds it sets it, and /health shows it. Any
// thread.
class Fault {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Told {
    std::string text;  // for a person: what is wrong, and what to do
    Time since;
    Time last;  // when it was found again
  };

  void found(std::string text, Time now) EXCLUDES(mutex_) {
    const threads::MutexLock lock(mutex_);
    const auto since = told_ ? told_->since : now;
    told_ = Told{std::move(text), since, now};
  }
  // Returns whether it was there.
  bool mended() EXCLUDES(mutex_) {
    const threads::MutexLock lock(mutex_);
    return std::exchange(told_, std::nullopt).has_value();
  }
  [[nodiscard]] std::optional<Told> told() const EXCLUDES(mutex_) {
    const threads::MutexLock lock(mutex_);
    return told_;
  }

 private:
  mutable threads::Mutex mutex_;
  std::optional<Told> told_ GUARDED_BY(mutex_);
};

// Since when each thing does not work of which nothing else knows that. One thread calls look()
// regularly; since() is for any thread.
class FirstSeen {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `names` lists all things that do not work at `now`. A thing that it leaves out is forgotten.
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

// The threads of this process that do not get on. The watchdog sets their names, and /health shows
// them. Any thread.
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

}  // namespace proxy::observe
