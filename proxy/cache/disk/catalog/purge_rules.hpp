// Purges of many entries at once that act before these are searched for.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/threads/mutex.hpp"
#include "proxy/cache/disk/format/format.hpp"

namespace proxy::cache::disk {

// A rule says that what lies before a position and whose URL it covers does not count. Any thread;
// without rules a question costs one load.
class PurgeRules {
 public:
  static constexpr std::size_t kMost = 1024;
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // of their texts together

  using Covers = std::function<bool(std::string_view url)>;
  // What the text of a rule means: which URLs it covers.
  using Reading = std::function<Covers(std::string_view text)>;
  static Covers as_prefix(std::string_view text);

  explicit PurgeRules(Reading reading = as_prefix) : reading_(std::move(reading)) {}

  // Counts for all that there is and will be, until the position of its record is known. False if
  // there are too many already.
  [[nodiscard]] bool add(std::string_view text);
  // One that was added will have no record: another covers it.
  void withdraw(std::string_view text);
  // The record of one that was added is written at this position. Where there are too many already,
  // all that are settled become one that covers everything up to the newest.
  void settle(std::string_view text, Position at);
  // The same for one that is read from the disk: what was added may have the same text, and waits.
  void learn(std::string_view text, Position at);

  bool purged(std::string_view url, Position at) const;

  // What lies before this position is gone, or was searched: what counts only for that is dropped.
  void forget_before(Position at);
  // In place of all rules, one that was added and covers everything.
  void cover_all();
  // Of what was read, so that only what was added and has no record yet counts.
  void forget_settled();
  // The newest position that a rule counts up to which is settled.
  std::optional<Position> newest() const;
  std::size_t count() const { return count_.load(std::memory_order_acquire); }
  // What they take, about.
  std::size_t bytes() const { return 2 * text_bytes_.load() + count() * sizeof(Rule); }

 private:
  struct Rule {
    std::string text;
    Covers covers;
    std::size_t unsettled = 0;  // records on their way
    Position until{};
  };
  Rule* find(std::string_view text) REQUIRES(mutex_);
  Rule& rule_for(std::string_view text) REQUIRES(mutex_);
  bool has_room_for(std::string_view text) const REQUIRES(mutex_) {
    return rules_.size() < kMost && text_bytes_ + text.size() <= kMostBytes;
  }
  void count_until(std::string_view text, Position at) REQUIRES(mutex_);
  void publish() REQUIRES(mutex_);

  const Reading reading_;
  std::atomic<std::size_t> count_ = 0;
  std::atomic<std::size_t> text_bytes_ = 0;
  mutable threads::SharedMutex mutex_;
  std::vector<Rule> rules_ GUARDED_BY(mutex_);  // one for each text
};

}  // namespace proxy::cache::disk
