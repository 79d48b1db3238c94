// Purges by prefix, which count before the entries they cover are found.
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

// A rule: no entry before a position counts if its URL is covered. Any thread. Without rules, a
// question costs one atomic load.
class PurgeRules {
 public:
  static constexpr std::size_t kMost = 1024;
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // of their texts together

  using Covers = std::function<bool(std::string_view url)>;
  // What the text of a rule means.
  using Reading = std::function<Covers(std::string_view text)>;
  static Covers as_prefix(std::string_view text);

  explicit PurgeRules(Reading reading = as_prefix) : reading_(std::move(reading)) {}

  // Adds a rule that covers every entry, later ones too, until settle() says where its record is.
  // False: there are too many rules.
  [[nodiscard]] bool add(std::string_view text);
  // Takes one add() back: a rule that covers more takes its place.
  void withdraw(std::string_view text);
  // The record of an added rule is written at this position: entries before it are covered. Where
  // there are too many rules, the settled ones become one that covers everything before the newest.
  void settle(std::string_view text, Position at);
  // The same for a rule that a start reads. An added rule with the same text still waits for its
  // record.
  void learn(std::string_view text, Position at);

  bool purged(std::string_view url, Position at) const;

  // No entry before this position is left that a rule must cover: drops rules that cover no other.
  void forget_before(Position at);
  // In place of all rules, one that was added and covers everything.
  void cover_all();
  // Forgets what was read or settled: only added rules without a record count.
  void forget_settled();
  // The newest position of a settled rule.
  std::optional<Position> newest() const;
  std::size_t count() const { return count_.load(std::memory_order_acquire); }
  // Memory, about.
  std::size_t bytes() const { return 2 * text_bytes_.load() + count() * sizeof(Rule); }

 private:
  struct Rule {
    std::string text;
    Covers covers;
    std::size_t unsettled = 0;  // records that are not written yet
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
