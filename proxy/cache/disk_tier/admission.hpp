// Which responses are written to the disk at all.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "proxy/cache/disk_tier/asked_twice.hpp"

namespace proxy::cache {

// Either every response, or those whose URL was asked for twice (DiskLimits::admit_on_second), so
// that responses that nobody asks for again do not wear the disk. Any thread.
class Admission {
 public:
  Admission(Budget& budget, bool on_second) {
    if (on_second) asked_twice_.emplace(budget, AskedTwice::fitting(budget.limit()));
  }

  bool is_on_second() const { return asked_twice_.has_value(); }
  // A client asks for the URL.
  void note_asked(const digest::Key& url_key) {
    if (asked_twice_) asked_twice_->note(url_key);
  }
  // Whether a response of this URL is admitted; one that replaces what is on disk always is.
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
