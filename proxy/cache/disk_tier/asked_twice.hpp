// Which URLs have been requested more than once recently.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "digest/key.hpp"
#include "proxy/cache/budget.hpp"

namespace proxy::cache {

// Remembers recently requested URLs, and whether each was requested once or more often. A URL takes
// 4 bytes, in groups of 8 in which the newest URL replaces the oldest. The next request for a
// replaced URL counts as its first. Any thread; if two threads meet, one URL may be forgotten. One
// URL in 1,000 million is mistaken for another.
class AskedTwice {
 public:
  // Has room for `urls` URLs, charged to the budget.
  AskedTwice(Budget& budget, std::uint64_t urls);

  void note(const digest::Key& url_key);
  bool holds(const digest::Key& url_key) const;  // whether it was requested more than once

  // As many URLs as fit into 1/128 of the memory, at most 4 million.
  static std::uint64_t fitting(std::uint64_t memory);

 private:
  using Slot = std::atomic<std::uint32_t>;
  static constexpr std::size_t kGroup = 8;
  // Set: requested twice; the other bits identify the URL; 0: an empty slot.
  static constexpr std::uint32_t kTwice = 1;

  Slot* group_of(const digest::Key& url_key) const;

  const std::size_t groups_;
  const Charge charge_;
  const std::unique_ptr<Slot[]> slots_;
};

}  // namespace proxy::cache
