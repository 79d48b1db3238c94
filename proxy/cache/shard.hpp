// One part of the store, under one lock.
#pragma once

#include <atomic>
#include <boost/unordered/unordered_flat_set.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "peers/threads/mutex.hpp"
#include "proxy/cache/disk/index.hpp"
#include "proxy/cache/eviction.hpp"
#include "proxy/cache/node.hpp"
#include "proxy/cache/s3_fifo.hpp"
#include "proxy/cache/shard_claims.hpp"
#include "proxy/cache/store.hpp"

namespace proxy::cache {

// A key with its hash, which chooses the shard and the place in it.
struct HashedKey {
  explicit HashedKey(const digest::Key& its_key) : key(its_key), hash(digest::KeyHash{}(its_key)) {}

  const digest::Key& key;
  const std::size_t hash;
};

// Every function takes the lock itself. Removed nodes are returned, so that the caller destroys
// them without the lock.
class Shard {
 public:
  using Chain = std::unique_ptr<Node>;  // nodes linked by `next`

  // `below`, if there is a disk, receives the claims; otherwise collect() returns them.
  // `newly_claimed`: as for the Store. All outlive the shard.
  Shard(Budget& budget, std::uint64_t ghost_window, const StoreLimits& limits, Totals& totals,
        disk::Index* below, threads::Alarm* newly_claimed);

  Found find(const HashedKey& key, std::string_view url, const http::Fields& request);
  Found peek(const HashedKey& key, std::string_view url, const http::Fields& request);
  Departed departed(const HashedKey& key, std::string_view url);
  Chain put(std::unique_ptr<Node> node, Time now, const Entry* superseded);
  // Inserts the node unless a variant is stored that the same requests select. Returns the response
  // that is stored afterwards; without an entry if two URLs have the same key. The caller destroys
  // the node if it is left in `node`.
  Kept adopt(Chain& node, Time now);
  // See S3Fifo::returns(). True also if the key is stored.
  bool returns(const digest::Key& key, std::uint64_t bytes);
  Chain drop(const digest::Key& key, const Entry* entry);
  bool was_used(const digest::Key& key);
  bool holds(const digest::Key& key);
  // Removes all variants. With a URL: only if the variants belong to it.
  Chain remove(const digest::Key& key, std::optional<std::string_view> url);
  // Removes the variants of those keys that match.
  std::vector<Chain> remove_if(std::span<const digest::Key> keys,
                               const std::function<bool(const Entry&)>& matches);
  // Appends the responses that are stored under these keys.
  void look(std::span<const digest::Key> keys, std::vector<Store::Response>& out);
  Chain evict(S3Fifo::Part part);
  void forget_ghosts();
  void set_ghost_window(std::uint64_t window);
  std::size_t entries() const { return count_.load(std::memory_order_relaxed); }

  // See Store.
  void lose_departures(Time now);
  // The disk below has ceased to claim the key.
  void remember_departure(const digest::Key& key, Time now);
  Collected collect(Time now, std::vector<KeyChange>& out);
  // Appends all keys under which responses are stored.
  void list(std::vector<digest::Key>& out);
  void list_claimed(Time now, std::vector<digest::Claim>& out);

 private:
  // The variants of one key, which has its place in the set by the newest of them: a pointer costs
  // a quarter of what a key beside it would. There is one at least, except until the end of the
  // call that takes the last.
  struct Slot {
    mutable Chain newest;
  };
  struct KeyOfSlot {
    using is_transparent = void;
    static const digest::Key& of(const digest::Key& key) { return key; }
    static const digest::Key& of(const HashedKey& key) { return key.key; }
    static const digest::Key& of(const Slot& slot) { return slot.newest->key; }
  };
  struct Hash : KeyOfSlot {
    using is_avalanching = void;  // as in KeyHash
    std::size_t operator()(const auto& slot) const { return digest::KeyHash{}(of(slot)); }
    std::size_t operator()(const HashedKey& key) const { return key.hash; }
  };
  struct Equal : KeyOfSlot {
    bool operator()(const auto& a, const auto& b) const { return of(a) == of(b); }
  };
  using Set = boost::unordered_flat_set<Slot, Hash, Equal>;

  // The variant that the same requests select, or null.
  static Chain* same_selection(const Slot& slot, const Node& node);
  // The node of this entry, or null.
  static Chain* place_of(Chain& newest, const Entry* entry);
  // Removes the node from the slot and the claims. The caller removes it from `order_`.
  Chain take(const Slot& slot, Chain& at) REQUIRES(mutex_);
  // Takes the nodes that match out of the slot.
  Chain take_if(const Slot& slot, const std::function<bool(const Node&)>& matches) REQUIRES(mutex_);
  Chain take_all(const Slot& slot) REQUIRES(mutex_);
  Chain take_surplus(const Slot& slot) REQUIRES(mutex_);
  // Inserts the node as the newest one, in a new slot if there is none yet. The caller inserts it
  // into `order_`.
  const Slot& insert(Set::iterator slot, Chain node, Time now) REQUIRES(mutex_);
  void expire_claims(Time now) REQUIRES(mutex_);
  // Sets `found` to the result of a look-up, and returns its node, or null.
  Node* choose(const HashedKey& key, std::string_view url, const http::Fields& request,
               Found& found) REQUIRES(mutex_);

  const std::size_t max_variants_;
  const KeptElsewhere& kept_elsewhere_;
  Totals& totals_;
  disk::Index* const below_;
  std::atomic<std::size_t> count_ = 0;

  threads::Mutex mutex_{threads::Place::second};
  Set slots_ GUARDED_BY(mutex_);
  S3Fifo order_ GUARDED_BY(mutex_);
  ShardClaims claims_ GUARDED_BY(mutex_);
};

}  // namespace proxy::cache
