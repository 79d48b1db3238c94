// A fault that lasts until it is mended.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "peers/threads/mutex.hpp"

namespace proxy {

// Whoever finds the fault sets it, and /health shows it. Any thread.
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

}  // namespace proxy
