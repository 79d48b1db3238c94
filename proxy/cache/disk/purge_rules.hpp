// Purges by prefix that act before their entries are searched for.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/cache/disk/format.hpp"

namespace proxy::cache::disk {

// A rule says that what lies before a position and whose URL begins with a prefix does not count.
// Any thread; without rules a question costs one load.
class PurgeRules {
 public:
  static constexpr std::size_t kMost = 1024;

  // Counts for all that there is and will be, until the position of its record is known. False if
  // there are too many already.
  [[nodiscard]] bool add(std::string_view prefix);
  // The record of one is at this position: one that was added, or one that is read from the disk.
  void settle(std::string_view prefix, Position at);

  bool purged(std::string_view url, Position at) const;

  // What lies before this position is gone, or was searched: what counts only for that is dropped.
  void forget_before(Position at);
  void clear();
  // The newest position that a rule counts up to which is settled.
  std::optional<Position> newest() const;
  std::size_t count() const { return count_.load(std::memory_order_acquire); }

 private:
  struct Rule {
    std::string prefix;
    std::size_t unsettled = 0;  // records on their way
    Position until{};
  };
  Rule& rule_for(std::string_view prefix);
  void publish() { count_.store(rules_.size(), std::memory_order_release); }

  std::atomic<std::size_t> count_ = 0;
  mutable std::shared_mutex mutex_;
  std::vector<Rule> rules_;  // guarded, one for each prefix
};

}  // namespace proxy::cache::disk
