// The claims of one shard of the store.
#pragma once

#include <algorithm>
#include <boost/intrusive/set.hpp>
#include <cstddef>
#include <vector>

#include "proxy/cache/claims.hpp"
#include "proxy/cache/departures.hpp"
#include "proxy/cache/disk/catalog/index.hpp"
#include "proxy/cache/store.hpp"

namespace proxy::cache {

using ClaimHook = boost::intrusive::set_base_hook<boost::intrusive::optimize_size<true>>;

// A variant in the order in which claims end. A variant is in this order exactly while it counts as
// claimable.
struct Claimable : ClaimHook {
  Claimable(const digest::Key& its_key, Time until) : key(its_key), claimable_until(until) {}

  const digest::Key key;
  const Time claimable_until;
};

// A key is claimed while it has claimable variants; their owner keeps the number for each key.
// Does not own the variants. Not thread-safe: the lock of the shard guards it.
class ShardClaims {
 public:
  // `below`, if there is a disk, receives the claims; otherwise collect() returns them.
  // `newly_claimed`: as for the Store.
  ShardClaims(Budget& budget, const StoreLimits& limits, disk::Index* below,
              threads::Alarm* newly_claimed);

  // `variants`: the number of claimable variants of the key. add() ignores a variant that is not
  // claimable at `now`; end() ignores a variant that is not claimed.
  void add(Claimable& variant, std::size_t& variants, Time now);
  void end(Claimable& variant, std::size_t& variants);
  // A variant whose claim has ended at `now`; null if there is none.
  Claimable* outlived(Time now);

  // When the key ceased to be claimed. Call this for a key that is not claimed any more.
  [[nodiscard]] Departed departed(const digest::Key& key) const {
    return departures_.of(key, latest_);
  }
  void remember_departure(const digest::Key& key, Time now) {
    tell(now);
    departures_.remember(key, latest_);
  }
  // See Store.
  void lose_departures(Time now) {
    tell(now);
    departures_.lose_earlier(now);
  }
  Collected collect(std::vector<KeyChange>& out) { return changes_.drain(out); }
  // Discards the recorded changes: the reader is about to read all claimed keys instead.
  void restart() { changes_.restart(); }

 private:
  struct ByEnd {
    bool operator()(const Claimable& a, const Claimable& b) const {
      return a.claimable_until < b.claimable_until;
    }
  };
  using Order = boost::intrusive::multiset<Claimable, boost::intrusive::base_hook<ClaimHook>,
                                           boost::intrusive::compare<ByEnd>,
                                           boost::intrusive::constant_time_size<false>>;

  // Returns whether our digest changes. It does not if the disk claims the key, too.
  bool change(const digest::Key& key, KeyChange::What what);
  void tell(Time now) { latest_ = std::max(latest_, now); }

  disk::Index* const below_;
  threads::Alarm* const newly_claimed_;
  Order order_;
  ChangeQueue changes_;
  Departures departures_;
  Time latest_{};  // the newest `now` that a caller gave
};

}  // namespace proxy::cache
