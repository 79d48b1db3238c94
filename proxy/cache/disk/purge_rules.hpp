// Rules for purges by prefix. A rule hides the entries that it covers before the search finds them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "peers/threads/mutex.hpp"
#include "proxy/cache/disk/format.hpp"

namespace proxy::cache::disk {

// A rule has a text and a position: no entry before the position counts if the text covers its URL
// or its giver. Any thread. Without rules, purged() costs one atomic load.
class PurgeRules {
 public:
  static constexpr std::size_t kMost = 1024;
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // of their texts together
  // Room beyond that for rules that must not be refused. Their caller has few different texts.
  static constexpr std::size_t kReserved = 128;
  static constexpr std::size_t kReservedBytes = 16 * kReserved;
  enum class Room : std::uint8_t { shared, reserved };

  using Covers = std::function<bool(std::string_view url, GiverTag giver)>;
  // Returns which entries the text of a rule covers.
  using Reading = std::function<Covers(std::string_view text)>;
  static Covers as_prefix(std::string_view text);

  explicit PurgeRules(Reading reading = as_prefix) : reading_(std::move(reading)) {}

  enum class Added : std::uint8_t {
    yes,
    too_many,  // there are too many rules, or their texts are too long
  };
  // Adds a rule without a position: until settle() sets one, it covers later entries, too.
  [[nodiscard]] Added add(std::string_view text, Room room = Room::shared);
  // Undoes one add(). The caller has added a rule that covers more.
  void withdraw(std::string_view text);
  // The record of an added rule was written at this position: the rule covers entries before it. If
  // there are too many rules, one rule that covers everything before the newest position replaces
  // all settled ones.
  void settle(std::string_view text, Position at);
  // Settles a rule that a start has read, as settle() does. An added rule with the same text still
  // waits for its own record.
  void learn(std::string_view text, Position at);

  // Whether a rule covers the entry at this position of the log. `giver`: the neighbour that gave
  // the entry. Rules about givers do not cover an entry without one: see Disk::open().
  bool purged(std::string_view url, Position at, GiverTag giver = 0) const;

  // Call it when every covered entry before this position has been removed: drops the rules that
  // cover only those.
  void forget_before(Position at);
  // Replaces all rules by one without a position that covers everything.
  void cover_all();
  // Forgets rules that were read or settled. Rules that wait for their record stay.
  void forget_settled();
  // The newest position of a settled rule.
  std::optional<Position> newest() const;
  std::size_t count() const { return count_.load(std::memory_order_acquire); }
  // Memory, approximately.
  std::size_t bytes() const { return 2 * text_bytes_.load() + count() * sizeof(Rule); }

 private:
  struct Rule {
    std::string text;
    Covers covers;
    std::size_t unsettled = 0;  // records that are not written yet
    Position until{};           // the rule covers entries before it
  };
  Rule* find(std::string_view text) REQUIRES(mutex_);
  Rule& rule_for(std::string_view text) REQUIRES(mutex_);
  bool has_room_for(std::string_view text, Room room = Room::shared) const REQUIRES(mutex_);
  void count_until(std::string_view text, Position at) REQUIRES(mutex_);
  void publish() REQUIRES(mutex_);

  const Reading reading_;
  std::atomic<std::size_t> count_ = 0;
  std::atomic<std::size_t> text_bytes_ = 0;
  mutable threads::SharedMutex mutex_{threads::Place::third};
  std::vector<Rule> rules_ GUARDED_BY(mutex_);  // one for each text
};

}  // namespace proxy::cache::disk
