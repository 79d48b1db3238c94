// Recent purges of many URLs. Bounded: the oldest are forgotten first.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>

#include "proxy/purging/purge_pattern.hpp"

namespace proxy {

// Not thread-safe.
class RecentPurges {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit RecentPurges(std::size_t capacity) : capacity_(capacity) {}

  // Records a purge. A repeated purge replaces the earlier record.
  void remember(const PurgePattern& purge, Time now) {
    std::erase_if(purges_, [&](const Noted& noted) { return noted.purge == purge; });
    purges_.push_back({purge, now});
    if (purges_.size() <= capacity_) return;
    forgotten_ = std::max(forgotten_, purges_.front().when);
    purges_.pop_front();
  }

  // Whether a purge at `since` or later covers the name or the giver; also true if such a purge may
  // have been forgotten.
  [[nodiscard]] bool may_cover(std::string_view name, Time since, cache::GiverTag giver = 0) const {
    if (forgotten_ >= since) return true;
    return std::any_of(purges_.begin(), purges_.end(), [&](const Noted& noted) {
      return noted.when >= since && noted.purge.covers(name, giver);
    });
  }

 private:
  struct Noted {
    PurgePattern purge;
    Time when;
  };

  const std::size_t capacity_;
  std::deque<Noted> purges_;  // oldest first, except purges that threads noted at the same time
  Time forgotten_ = Time::min();
};

}  // namespace proxy
