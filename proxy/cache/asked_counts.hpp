// How often URLs have been requested recently.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "digest/key.hpp"
#include "proxy/cache/budget.hpp"

namespace proxy::cache {

// Remembers recently requested URLs, and counts the requests for each up to kMost. A URL takes 4
// bytes, in groups of 8 in which the newest URL replaces the oldest. The next request for a
// replaced URL counts as its first. Any thread; if two threads meet, one URL or one request may be
// forgotten. One URL in 60 million is mistaken for another.
class AskedCounts {
 public:
  static constexpr unsigned kMost = 7;

  // Has room for `urls` URLs, charged to the budget.
  AskedCounts(Budget& budget, std::uint64_t urls);

  void record(const digest::Key& url_key);
  // How many requests were noted, at most kMost.
  unsigned of(const digest::Key& url_key) const;
  // The next request counts as the first.
  void forget(const digest::Key& url_key);

  // Returns how many URLs fit into 1/128 of the memory, at most 4 million.
  static std::uint64_t fitting(std::uint64_t memory);

 private:
  // The count, and in its other bits what identifies the URL. 0: empty.
  using Slot = std::atomic<std::uint32_t>;
  static constexpr std::size_t kGroup = 8;
  static constexpr std::uint32_t kCount = kMost;  // the bits of the count

  // Identifies a URL in its group: never 0, with a count of 0.
  static std::uint32_t mark_of(const digest::Key& key);
  // The URL's slot; null if it is not remembered.
  Slot* find(const digest::Key& url_key) const;
  Slot* group_of(const digest::Key& url_key) const;

  const std::size_t groups_;
  const Charge charge_;
  const std::unique_ptr<Slot[]> slots_;
};

}  // namespace proxy::cache
