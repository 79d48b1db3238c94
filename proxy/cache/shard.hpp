// One part of the store, under one lock.
#pragma once

#include <atomic>
#include <boost/core/noncopyable.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <memory>
#include <new>
#include <string_view>

#include "peers/threads/mutex.hpp"
#include "proxy/cache/disk/index.hpp"
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

// An entry's node in the index. Charged to the entry's budget. A store has millions of nodes, so
// the order of its parts leaves no gaps. A node without an OnDisk has no room for one.
struct Node : S3Fifo::Item, Claimable, private boost::noncopyable {
  static std::unique_ptr<Node> make(const digest::Key& its_key, Kept kept);
  static void operator delete(Node* node, std::destroying_delete_t destroys);
  ~Node();

  // Whether it is a block of an object, which has no head of its own.
  [[nodiscard]] bool is_block() const { return entry->head().empty(); }
  [[nodiscard]] const std::shared_ptr<OnDisk>& on_disk() const;  // as in Kept
  // Whether the response of the node is on disk already.
  [[nodiscard]] bool is_on_disk() const { return has_on_disk && on_disk()->front() != 0; }

  std::uint32_t hits : 31 = 0;  // how often the response was found; a validation keeps the count
  const std::uint32_t has_on_disk : 1;  // whether it is a NodeOverDisk
  const Ref<const Entry> entry;
  std::unique_ptr<Node> next;  // the next older variant of the URL

 protected:
  enum class Over : std::uint8_t { nothing, disk };
  Node(const digest::Key& its_key, Kept kept, Over over);
};
static_assert(sizeof(Node) == 96);

// The responses of some keys. The caller holds the lock. Removed nodes are returned, so that the
// caller destroys them without it.
class Shard {
 public:
  using Chain = std::unique_ptr<Node>;  // nodes linked by `next`

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

  // `below` and `newly_claimed`: see the constructor of Store. All outlive the shard.
  Shard(Budget& budget, const StoreLimits& limits, Totals& totals, disk::Index* below,
        threads::Alarm* newly_claimed);

  // The claim that our digest makes for the node's response. KeptElsewhere compares it with the
  // claims of other caches.
  static digest::Claim claim_of(const Node& node);
  // The fingerprint of the key, for S3Fifo.
  static std::uint32_t fingerprint_of(const digest::Key& key);
  // The variant in the slot that is selected by the same requests as the node. Null: there is none.
  static Chain* same_selection(const Slot& slot, const Node& node);

  // Sets `found` to the result of a look-up, and returns its node, or null.
  Node* choose(const HashedKey& key, std::string_view url, const http::Fields& request,
               Found& found) REQUIRES(mutex);
  // Stores the node as Store::put() says.
  Chain put(Chain node, Time now, const Entry* superseded) REQUIRES(mutex);
  // Inserts the node as the newest one, in a new slot if there is none yet. The caller inserts it
  // into `order`.
  const Slot& insert(Set::iterator slot, Chain node, Time now) REQUIRES(mutex);
  // Removes the node from the slot and the claims. The caller removes it from `order`, and a slot
  // that is empty then from `slots`.
  Chain remove(const Slot& slot, Chain& at) REQUIRES(mutex);
  // Removes the nodes that match, and the slot if it is empty then.
  Chain remove_if(Set::iterator slot, const std::function<bool(const Node&)>& matches)
      REQUIRES(mutex);
  // Removes one variant if there are too many.
  Chain remove_surplus(const Slot& slot) REQUIRES(mutex);
  void expire_claims(Time now) REQUIRES(mutex);

  std::atomic<std::size_t> count = 0;  // of entries

  threads::Mutex mutex{threads::Place::second};
  Set slots GUARDED_BY(mutex);
  S3Fifo order GUARDED_BY(mutex);
  ShardClaims claims GUARDED_BY(mutex);

 private:
  const std::size_t max_variants_;
  Totals& totals_;
};

}  // namespace proxy::cache
