// One part of the store, under one lock.
#pragma once

#include <atomic>
#include <boost/intrusive/set.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "config/threads/mutex.hpp"
#include "proxy/cache/claims.hpp"
#include "proxy/cache/departures.hpp"
#include "proxy/cache/disk/catalog/index.hpp"
#include "proxy/cache/s3_fifo.hpp"
#include "proxy/cache/store.hpp"

namespace proxy::cache {

using ClaimHook = boost::intrusive::set_base_hook<boost::intrusive::optimize_size<true>>;

// An entry's node in the index. It is in the claim order exactly while it counts as claimable.
struct Node : S3Fifo::Item, ClaimHook {
  Node(Budget& budget, const digest::Key& its_key, std::shared_ptr<const Entry> its_entry);

  const digest::Key key;
  const std::shared_ptr<const Entry> entry;
  const Time claimable_until;
  std::uint32_t hits = 0;      // how often the response was found; a validation keeps the count
  std::unique_ptr<Node> next;  // the next older variant of the URL

 private:
  const Charge charge_;
};

// Every function takes the lock itself. Removed nodes are returned, so that they are destroyed
// after the lock has been released.
class Shard {
 public:
  using Chain = std::unique_ptr<Node>;  // nodes linked by `next`

  // The totals of all shards.
  struct Totals {
    std::atomic<std::size_t>& entries;
    std::atomic<std::uint64_t>& bytes;
    std::atomic<std::uint64_t>& small_bytes;
  };

  // `below`, if there is a disk, receives the claims; otherwise collect() returns them.
  Shard(Budget& budget, std::uint64_t ghost_window, const StoreLimits& limits, Totals totals,
        disk::Index* below);

  Found find(const digest::Key& key, std::string_view url, const http::Fields& request);
  Chain put(std::unique_ptr<Node> node, Time now, const Entry* superseded);
  // Inserts the node unless a variant is stored that the same requests select. Returns the entry
  // that is stored afterwards; the caller destroys what is left in `node`. Null if two URLs have
  // the same key.
  std::shared_ptr<const Entry> adopt(Chain& node, Time now);
  Chain drop(const digest::Key& key, const Entry* entry);
  bool was_used(const digest::Key& key);
  bool holds(const digest::Key& key);
  // With a URL: only if the variants belong to it.
  Chain remove(const digest::Key& key, std::optional<std::string_view> url);
  // Those of the keys whose URL `matches`.
  std::vector<Chain> remove_if(std::span<const digest::Key> keys,
                               const std::function<bool(std::string_view)>& matches);
  // Appends what is stored under these keys.
  void look(std::span<const digest::Key> keys, std::vector<Store::Held>& out);
  Chain evict(S3Fifo::Part part);
  void forget_ghosts();
  std::size_t entries() const { return count_.load(std::memory_order_relaxed); }

  Collected collect(Time now, std::vector<KeyChange>& out);
  // All keys that are stored.
  void list(std::vector<digest::Key>& out);
  void list_claimed(Time now, std::vector<digest::Key>& out);

 private:
  struct Slot {
    Chain newest;
    std::size_t claimable = 0;  // number of claimable variants; the key is claimed unless it is 0
  };
  using Map = boost::unordered_flat_map<digest::Key, Slot, digest::KeyHash>;
  struct ByClaimEnd {
    bool operator()(const Node& a, const Node& b) const {
      return a.claimable_until < b.claimable_until;
    }
  };
  using ClaimOrder = boost::intrusive::multiset<Node, boost::intrusive::base_hook<ClaimHook>,
                                                boost::intrusive::compare<ByClaimEnd>,
                                                boost::intrusive::constant_time_size<false>>;

  // The variant that the same requests select, or null.
  static Chain* same_selection(Slot& slot, const Node& node);
  // The node of this entry, or null.
  static Chain* place_of(Slot& slot, const Entry* entry);
  // Out of the slot and the claims; `order_` is the caller's part.
  Chain take(Slot& slot, Chain& at) REQUIRES(mutex_);
  Chain take_all(Slot& slot) REQUIRES(mutex_);
  Chain take_surplus(Slot& slot) REQUIRES(mutex_);
  void insert(Slot& slot, Chain node) REQUIRES(mutex_);
  void claim(Slot& slot, Node& node, Time now) REQUIRES(mutex_);
  void unclaim(Slot& slot, Node& node) REQUIRES(mutex_);
  void change(const digest::Key& key, KeyChange::What what) REQUIRES(mutex_);
  void expire_claims(Time now) REQUIRES(mutex_);
  void tell(Time now) REQUIRES(mutex_) { latest_ = std::max(latest_, now); }

  const std::size_t max_variants_;
  const Totals totals_;
  disk::Index* const below_;
  std::atomic<std::size_t> count_ = 0;

  threads::Mutex mutex_;
  Map slots_ GUARDED_BY(mutex_);
  S3Fifo order_ GUARDED_BY(mutex_);
  ClaimOrder claim_order_ GUARDED_BY(mutex_);
  ChangeQueue changes_ GUARDED_BY(mutex_);
  Departures departures_ GUARDED_BY(mutex_);
  Time latest_ GUARDED_BY(mutex_){};  // the newest `now` that a caller gave
};

}  // namespace proxy::cache
