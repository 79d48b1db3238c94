// Decides which responses are written to the disk.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "proxy/cache/disk_tier/asked_twice.hpp"

namespace proxy::cache {

// Admits every response, or only those whose URL was requested twice (DiskLimits::admit_on_second),
// so that responses requested once do not wear the disk. Any thread.
class Admission {
 public:
  Admission(Budget& budget, bool on_second) {
    if (on_second) asked_twice_.emplace(budget, AskedTwice::fitting(budget.limit()));
  }

  bool is_on_second() const { return asked_twice_.has_value(); }
  // Records that a client requested the URL.
  void note_asked(const digest::Key& url_key) {
    if (asked_twice_) asked_twice_->note(url_key);
  }
  // Whether a response of this URL is admitted. DiskTier also admits a response that replaces one
  // on disk.
  bool admits(const digest::Key& url_key) const {
    return !asked_twice_ || asked_twice_->holds(url_key);
  }
  void count_refused() { refused_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  std::optional<AskedTwice> asked_twice_;  // none: every response is admitted
  std::atomic<std::uint64_t> refused_ = 0;
};

}  // namespace proxy::cache
