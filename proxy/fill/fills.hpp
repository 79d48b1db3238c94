// The fills under way, by key. Simultaneous misses of one URL cause only one request upstream.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "digest/key.hpp"
#include "proxy/cache/purge_pattern.hpp"
#include "proxy/fill/fill.hpp"

namespace proxy::fill {

// Remembers keys for a while, up to a number of keys. The oldest are forgotten first. Not
// thread-safe.
class RecentKeys {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit RecentKeys(std::size_t capacity) : capacity_(capacity) {}

  void remember(const digest::Key& key, Time until) {
    const auto [place, is_new] = until_.try_emplace(key, until);
    if (is_new) order_.push_back(key);
    // Threads do not arrive here in the order of their times.
    place->second = std::max(place->second, until);
    if (order_.size() <= capacity_) return;
    const auto oldest = until_.find(order_.front());
    forgotten_until_ = std::max(forgotten_until_, oldest->second);
    until_.erase(oldest);
    order_.pop_front();
  }
  [[nodiscard]] bool holds(const digest::Key& key, Time now) const {
    const auto found = until_.find(key);
    return found != until_.end() && now < found->second;
  }
  // As holds(), but also true if the key may have been forgotten.
  [[nodiscard]] bool may_hold(const digest::Key& key, Time now) const {
    return now < forgotten_until_ || holds(key, now);
  }

 private:
  const std::size_t capacity_;
  boost::unordered_flat_map<digest::Key, Time, digest::KeyHash> until_;
  std::deque<digest::Key> order_;  // oldest first
  Time forgotten_until_ = Time::min();
};

// Any thread.
class Fills {
 public:
  using Time = RecentKeys::Time;

  // After a response that could not be shared, a request for its URL joins no fill of another
  // request for this long, but fetches for itself.
  static constexpr std::chrono::seconds kNotShared{60};
  // After an invalidation, siblings are not asked for the URL for this long: they may still hold
  // the old response.
  static constexpr std::chrono::seconds kInvalidated{60};
  // How many purges by prefix or host are remembered one by one.
  static constexpr std::size_t kRecentPurges = 256;
  // Refreshes at a time, per shard. They need a bound of their own, because no client waits for
  // them: the limit on connections does not bound them.
  static constexpr std::size_t kMostRefreshes = 64;

  enum class Turn {
    first,  // the fill is new and listed: fetch into it
    join,   // another request began the fill: read it
    alone,  // the fill is new and not listed: fetch into it
  };
  struct Entered {
    std::shared_ptr<Fill> fill;
    Turn turn = Turn::alone;
  };
  // `unfit`: a fill that the caller has joined and that does not answer it. Other requests then
  // join the new fill in its place.
  Entered enter(const digest::Key& key, const std::string& url, const FillPlace& place, Time now,
                const Fill* unfit = nullptr);
  // The fill of this URL that requests may join; null if there is none.
  std::shared_ptr<Fill> under_way(const digest::Key& key, const std::string& url, Time now);
  static Entered alone(const std::string& url, const FillPlace& place) {
    return {net::make_shared_in_frames<Fill>(url, place), Turn::alone};
  }

  // Lists a fill that no request waits for; later requests may join it. Null if the key is already
  // being fetched or refreshed, or too many keys are being refreshed: then the stale response is
  // not refreshed this time. The refresh lasts until end_refresh().
  std::shared_ptr<Fill> begin_refresh(const digest::Key& key, const std::string& url,
                                      const FillPlace& place);
  void end_refresh(const digest::Key& key);

  // Delists the fill: no request joins it any more. Does nothing if the key lists another fill or
  // none.
  void leave(const digest::Key& key, const Fill& fill);
  // As leave(), and remembers that the response could not be shared.
  void leave_unshared(const digest::Key& key, const Fill& fill, Time now);
  // Remembers that a response of the URL could not be shared.
  void record_unshared(const digest::Key& key, Time now);
  // Whether a response of the URL could not be shared, within kNotShared.
  bool recently_unshared(const digest::Key& key, Time now);

  // The URL was changed at the origin, or is being purged: no fill of it that is under way now will
  // be stored, and no request will join one.
  void invalidate(const digest::Key& key, Time now);
  // As above, for every URL that the purge covers.
  void invalidate(const cache::PurgePattern& purge, Time now);
  // Whether the URL `name` was invalidated within kInvalidated. Also returns true when the history
  // has overflowed.
  bool recently_invalidated(const digest::Key& key, std::string_view name, Time now);
  // Removes all fills from the table. Call this only when no coroutine runs any more.
  void clear();
  // Whether a response whose request was sent at `asked` may be older than an invalidation of its
  // URL, or of everything that its giver gave.
  bool outdated(const digest::Key& key, std::string_view name, Time asked,
                cache::GiverTag giver = 0);

 private:
  struct Shard {
    void delist(const digest::Key& key, const Fill& fill) REQUIRES(mutex);

    threads::Mutex mutex{threads::Place::second};
    using Listed = std::pair<const digest::Key, std::shared_ptr<Fill>>;
    std::unordered_map<digest::Key, std::shared_ptr<Fill>, digest::KeyHash, std::equal_to<>,
                       net::FrameAllocator<Listed>>
        fills GUARDED_BY(mutex);
    std::unordered_set<digest::Key, digest::KeyHash> refreshing GUARDED_BY(mutex);
    RecentKeys unshared GUARDED_BY(mutex){4096};
    RecentKeys invalidated GUARDED_BY(mutex){4096};
  };
  bool purged(std::string_view name, Time since, cache::GiverTag giver);
  Shard& shard_of(const digest::Key& key) { return shards_[digest::part_of(key, shards_.size())]; }

  std::array<Shard, 16> shards_;
  // The time of the last purge. Most requests began after it, and need not take the lock then.
  std::atomic<Time> last_purge_{Time::min()};
  // Third, because a response that is being stored looks for purges under its URL's lock.
  threads::Mutex purges_mutex_{threads::Place::third};
  cache::RecentPurges purges_ GUARDED_BY(purges_mutex_){kRecentPurges};
};

}  // namespace proxy::fill
