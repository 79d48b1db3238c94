// Keys of which something was true a short while ago; bounded, and the oldest are forgotten first.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <unordered_map>

#include "digest/key.hpp"

namespace proxy {

// Not thread-safe.
class RecentKeys {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit RecentKeys(std::size_t capacity) : capacity_(capacity) {}

  void remember(const digest::Key& key, Time until) {
    if (until_.insert_or_assign(key, until).second) order_.push_back(key);
    if (order_.size() <= capacity_) return;
    until_.erase(order_.front());
    order_.pop_front();
  }
  [[nodiscard]] bool holds(const digest::Key& key, Time now) const {
    const auto found = until_.find(key);
    return found != until_.end() && now < found->second;
  }

 private:
  const std::size_t capacity_;
  std::unordered_map<digest::Key, Time, digest::KeyHash> until_;
  std::deque<digest::Key> order_;  // oldest first
};

}  // namespace proxy
