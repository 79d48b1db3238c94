// The fills under way, by key: simultaneous misses of one URL make one upstream request.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "config/threads/mutex.hpp"
#include "digest/key.hpp"
#include "proxy/fill/fill.hpp"
#include "proxy/fill/recent_keys.hpp"
#include "proxy/fill/recent_purges.hpp"

namespace proxy {

// Any thread.
class Fills {
 public:
  using Time = RecentKeys::Time;

  // A URL whose last response could not be shared is not waited for by others for this long.
  static constexpr std::chrono::seconds kNotShared{60};
  // Nor are siblings asked for one that was invalidated: they may hold what it was before.
  static constexpr std::chrono::seconds kInvalidated{60};
  // So many purges by prefix or host are remembered apart.
  static constexpr std::size_t kRecentPurges = 256;
  // No client's connection bounds how many run at once.
  static constexpr std::size_t kMostRefreshes = 64;  // per shard

  enum class Turn {
    first,  // the fill is new and listed: fetch into it
    join,   // the fill is somebody's: read it
    alone,  // the fill is new and nobody else's
  };
  struct Entered {
    std::shared_ptr<Fill> fill;
    Turn turn = Turn::alone;
  };
  Entered enter(const digest::Key& key, const std::string& url, net::Executor executor, Time now);
  static Entered alone(const std::string& url, net::Executor executor) {
    return {std::make_shared<Fill>(url, executor), Turn::alone};
  }

  // A fill that no request waits for; later requests may join it. Null if the key is being fetched
  // or refreshed already, or too many keys are: then the stored response is served once more. The
  // refresh lasts until end_refresh().
  std::shared_ptr<Fill> begin_refresh(const digest::Key& key, const std::string& url,
                                      net::Executor executor);
  void end_refresh(const digest::Key& key);

  // No newcomers from now on. Does nothing if another fill, or none, is listed.
  void leave(const digest::Key& key, const Fill& fill);
  // Likewise, and remembers that the response could not be shared.
  void leave_unshared(const digest::Key& key, const Fill& fill, Time now);

  // The URL was changed at the origin, or is purged: no fill of it that is under way is stored, and
  // no request joins one.
  void invalidate(const digest::Key& key, Time now);
  // The same for every URL that the purge covers.
  void invalidate(const PurgePattern& purge, Time now);
  // Whether it was for what is stored under this name within kInvalidated. Where too much happened
  // to remember it all, it counts as that.
  bool recently_invalidated(const digest::Key& key, std::string_view name, Time now);
  // Forgets all fills; when nothing runs any more.
  void clear();
  // Whether an answer to what was asked for at that time may be of before a change.
  bool outdated(const digest::Key& key, std::string_view name, Time asked);

 private:
  struct Shard {
    threads::Mutex mutex;
    std::unordered_map<digest::Key, std::shared_ptr<Fill>, digest::KeyHash> fills GUARDED_BY(mutex);
    std::unordered_set<digest::Key, digest::KeyHash> refreshing GUARDED_BY(mutex);
    RecentKeys unshared GUARDED_BY(mutex){4096};
    RecentKeys invalidated GUARDED_BY(mutex){4096};
  };
  bool purged(std::string_view name, Time since);
  Shard& shard_of(const digest::Key& key) { return shards_[key.bytes[1] % shards_.size()]; }

  std::array<Shard, 16> shards_;
  // When the last purge came: most often long before whatever is asked for, so that nobody has to
  // take the lock to learn it.
  std::atomic<Time> last_purge_{Time::min()};
  threads::Mutex purges_mutex_;
  RecentPurges purges_ GUARDED_BY(purges_mutex_){kRecentPurges};
};

}  // namespace proxy
