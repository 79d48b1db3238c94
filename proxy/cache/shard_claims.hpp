// The claims of one shard of the store.
#pragma once

#include <algorithm>
#include <boost/intrusive/set.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "proxy/cache/departures.hpp"
#include "proxy/cache/disk/index.hpp"
#include "proxy/cache/store.hpp"

namespace proxy::cache {

using ClaimHook = boost::intrusive::set_base_hook<boost::intrusive::optimize_size<true>>;

// The times until which a variant may be claimed.
struct ClaimTerms {
  Time until = Time::min();          // for all neighbours
  digest::RuleMark rule = 0;         // 0: none
  Time by_rule_until = Time::min();  // for neighbours that have the rule
};

// The claimable variants of one key. A key has one rule by which variants are claimed. Nearly
// always its variants have no other. A variant that has another rule is claimed by no rule.
struct ClaimCounts {
  // The most variants of a key.
  static constexpr std::size_t kMost = 254;

  // Small, as each stored URL has these counts.
  std::uint8_t for_all = 0;
  std::uint8_t by_rule = 0;
  digest::RuleMark rule = 0;  // if by_rule > 0

  // `of`: the rule of a claim, 0 for everybody.
  std::uint8_t& count(digest::RuleMark of) { return of == 0 ? for_all : by_rule; }
};

// A variant in the order in which claims end. A variant is in this order exactly while it counts as
// claimable.
struct Claimable : ClaimHook {
  explicit Claimable(const digest::Key& its_key) : key(its_key) {}

  // Sets the claim and its end. Rounds the end down to milliseconds.
  void set_claim(Time until, digest::RuleMark its_rule) {
    const auto since_1970 = std::chrono::floor<std::chrono::milliseconds>(until).time_since_epoch();
    constexpr std::int64_t kMost = (std::int64_t{1} << 48) - 1;
    until_ =
        static_cast<std::uint64_t>(std::clamp<std::int64_t>(since_1970.count(), 0, kMost) & kMost);
    rule_ = its_rule;
  }
  [[nodiscard]] Time claimable_until() const {
    return Time(std::chrono::milliseconds(static_cast<std::int64_t>(until_)));
  }
  [[nodiscard]] digest::RuleMark rule() const { return rule_; }  // 0: the claim for everybody
  [[nodiscard]] bool by_rule() const { return rule_ != 0; }
  [[nodiscard]] digest::Claim claim() const { return {key, rule_}; }

  const digest::Key key;

 private:
  std::uint64_t until_ : 48 = 0;  // ms since 1970
  digest::RuleMark rule_ : 16 = 0;

 public:
  // The counts of all variants of the key. Those of the newest variant alone are used: a place of
  // their own in the map of keys would cost more.
  ClaimCounts variants = {};
};

// The changes of one shard since the last drain(), in order. Beyond `limit` changes it drops them
// all and records nothing until restart(). Not thread-safe: the lock of the shard guards it.
class ChangeQueue {
 public:
  explicit ChangeQueue(std::size_t limit) : limit_(limit) {}

  void append(const KeyChange& change) {
    if (overflowed_) return;
    if (changes_.size() < limit_) return changes_.push_back(change);
    overflowed_ = true;
    changes_ = {};
  }
  // Moves all changes to the end of `out`.
  Collected drain(std::vector<KeyChange>& out) {
    if (overflowed_) return Collected::overflowed;
    out.insert(out.end(), changes_.begin(), changes_.end());
    changes_.clear();
    return Collected::complete;
  }
  // Forgets everything: the reader has just read the whole set.
  void restart() {
    overflowed_ = false;
    changes_.clear();
  }

 private:
  const std::size_t limit_;
  std::vector<KeyChange> changes_;
  bool overflowed_ = false;
};

// A claim is made while a key has claimable variants; their owner keeps the counts for each key.
// Does not own the variants. Not thread-safe: the lock of the shard guards it.
class ShardClaims {
 public:
  // `below`, if there is a disk, receives the claims; otherwise collect() returns them.
  // `newly_claimed`: see the constructor of Store.
  ShardClaims(Budget& budget, const StoreLimits& limits, disk::Index* below,
              threads::Alarm* newly_claimed);

  // `terms` are those of the variant, `variants` the claimable variants of the key. add() ignores a
  // variant that is not claimable at `now`; end() ignores a variant that is not claimed.
  void add(Claimable& variant, const ClaimTerms& terms, ClaimCounts& variants, Time now);
  void end(Claimable& variant, ClaimCounts& variants);
  // A variant whose claim has ended at `now`; null if there is none. After end(), add() lets its
  // claim by the rule follow, if it has one.
  Claimable* outlived(Time now);

  // When the key ceased to be claimed. Call this for a key that is not claimed any more.
  [[nodiscard]] Departed departed(const digest::Key& key) const {
    return departures_.of(key, latest_);
  }
  void remember_departure(const digest::Key& key, Time now) {
    record_time(now);
    departures_.remember(key, latest_);
  }
  // See Store.
  void lose_departures(Time now) {
    record_time(now);
    departures_.lose_earlier(now);
  }
  Collected collect(std::vector<KeyChange>& out) { return changes_.drain(out); }
  // Discards the recorded changes: the reader is about to read all claimed keys instead.
  void restart() { changes_.restart(); }

 private:
  struct ByEnd {
    bool operator()(const Claimable& a, const Claimable& b) const {
      return a.claimable_until() < b.claimable_until();
    }
  };
  using Order = boost::intrusive::multiset<Claimable, boost::intrusive::base_hook<ClaimHook>,
                                           boost::intrusive::compare<ByEnd>,
                                           boost::intrusive::constant_time_size<false>>;

  // Returns whether our digest changes. It does not if the disk claims the key, too.
  bool change(const digest::Claim& claim, KeyChange::What what);
  // Chooses the claim that the variant may have now. Returns whether it may have one.
  static bool choose(Claimable& variant, const ClaimTerms& terms, const ClaimCounts& variants,
                     Time now);
  void record_time(Time now) { latest_ = std::max(latest_, now); }

  disk::Index* const below_;
  threads::Alarm* const newly_claimed_;
  Order order_;
  ChangeQueue changes_;
  Departures departures_;
  Time latest_{};  // the newest `now` that a caller gave
};

}  // namespace proxy::cache
