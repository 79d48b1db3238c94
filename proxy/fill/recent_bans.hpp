// The purges of many URLs that were asked for lately; bounded, and the first to come are the first
// to be forgotten.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>

#include "proxy/request/ban.hpp"

namespace proxy {

// Not thread-safe.
class RecentBans {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit RecentBans(std::size_t capacity) : capacity_(capacity) {}

  // The same ban once more takes the place of the earlier one.
  void remember(const Ban& ban, Time now) {
    std::erase_if(bans_, [&](const Noted& noted) { return noted.ban == ban; });
    bans_.push_back({ban, now});
    if (bans_.size() <= capacity_) return;
    forgotten_ = std::max(forgotten_, bans_.front().when);
    bans_.pop_front();
  }

  // Whether one that covers the name came at `since` or later; also true where it may have been
  // forgotten.
  [[nodiscard]] bool may_cover(std::string_view name, Time since) const {
    if (forgotten_ >= since) return true;
    return std::any_of(bans_.begin(), bans_.end(), [&](const Noted& noted) {
      return noted.when >= since && noted.ban.covers(name);
    });
  }

 private:
  struct Noted {
    Ban ban;
    Time when;
  };

  const std::size_t capacity_;
  std::deque<Noted> bans_;  // oldest first, but for what threads noted at the same time
  Time forgotten_ = Time::min();
};

}  // namespace proxy
