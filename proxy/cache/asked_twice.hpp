// Which URLs were asked for more than once lately.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "digest/key.hpp"
#include "proxy/cache/budget.hpp"

namespace proxy::cache {

// Remembers of the URLs that were asked for lately whether that was once or more often: 4 bytes for
// each, in groups of 8 in which the newest takes the place of the oldest. Of what was pushed out
// the next request counts as the first. Any thread; where two meet one of them may be forgotten,
// and one URL in a thousand million is taken for another.
class AskedTwice {
 public:
  // For so many URLs; charged to the budget.
  AskedTwice(Budget& budget, std::uint64_t urls);

  void note(const digest::Key& url_key);
  bool holds(const digest::Key& url_key) const;  // that it was asked for twice

  // As many as 1/128 of so much memory has room for, at most 4 million.
  static std::uint64_t fitting(std::uint64_t memory);

 private:
  using Slot = std::atomic<std::uint32_t>;
  static constexpr std::size_t kGroup = 8;
  static constexpr std::uint32_t kTwice = 1;  // else once; the rest tells the URL, 0 none

  Slot* group_of(const digest::Key& url_key) const;

  const std::size_t groups_;
  const Charge charge_;
  const std::unique_ptr<Slot[]> slots_;
};

}  // namespace proxy::cache
