// Decides which responses are written to the disk.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "proxy/cache/asked_counts.hpp"

namespace proxy::cache {

// Admits every response, or only those whose URL was requested twice (DiskLimits::admit_on_second),
// so that responses requested once do not wear the disk. Any thread.
class Admission {
 public:
  Admission(Budget& budget, bool on_second) {
    if (on_second) asked_.emplace(budget, AskedCounts::fitting(budget.limit()));
  }

  bool is_on_second() const { return asked_.has_value(); }
  // Records that a client requested the URL.
  void note_asked(const digest::Key& url_key) {
    if (asked_) asked_->note(url_key);
  }
  // Whether a response of this URL is admitted. DiskTier also admits a response that replaces one
  // on disk.
  bool admits(const digest::Key& url_key) const { return !asked_ || asked_->of(url_key) >= 2; }
  void count_refused() { refused_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  std::optional<AskedCounts> asked_;  // none: every response is admitted
  std::atomic<std::uint64_t> refused_ = 0;
};

}  // namespace proxy::cache
