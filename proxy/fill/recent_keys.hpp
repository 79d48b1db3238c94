// Remembers keys for a while, up to a number of keys. The oldest are forgotten first.
#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstddef>
#include <deque>

#include "digest/key.hpp"

namespace proxy {

// Not thread-safe.
class RecentKeys {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit RecentKeys(std::size_t capacity) : capacity_(capacity) {}

  void remember(const digest::Key& key, Time until) {
    const auto [place, is_new] = until_.try_emplace(key, until);
    if (is_new) order_.push_back(key);
    // Threads may arrive here in another order than that of their times.
    place->second = std::max(place->second, until);
    if (order_.size() <= capacity_) return;
    const auto oldest = until_.find(order_.front());
    forgotten_until_ = std::max(forgotten_until_, oldest->second);
    until_.erase(oldest);
    order_.pop_front();
  }
  [[nodiscard]] bool holds(const digest::Key& key, Time now) const {
    const auto found = until_.find(key);
    return found != until_.end() && now < found->second;
  }
  // As holds(), but also true if the key may have been forgotten.
  [[nodiscard]] bool may_hold(const digest::Key& key, Time now) const {
    return now < forgotten_until_ || holds(key, now);
  }

 private:
  const std::size_t capacity_;
  boost::unordered_flat_map<digest::Key, Time, digest::KeyHash> until_;
  std::deque<digest::Key> order_;  // oldest first
  Time forgotten_until_ = Time::min();
};

}  // namespace proxy
