// Where each entry lies on disk: an exact index in memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "proxy/cache/disk/catalog/location.hpp"

namespace proxy::cache::disk {

class IndexShard;

// Why no entry on disk is claimed for the time being.
enum class Unclaimed : std::uint8_t {
  searching = 1,  // a purge by prefix may cover it, and the search has not come to it yet
  hanging = 2,    // the disk does not answer
};

// Keys and locations, in 128 flat maps without a node per entry. The maps have unequal shares of
// the keys, from s to 2 s, so that they double one after the other and not all at once: between
// half a million and 2 million entries the index takes at most 55 bytes per entry
// (index_memory_test), and no growth moves more than 1 in 90 of the entries. Any thread. A call for
// one key takes one shard's lock, for as long as one look-up takes; calls for all entries take one
// lock after the other.
class Index {
 public:
  static constexpr std::size_t kShards = 128;

  // `origin`: seconds since 1970, in the past. Claims that end before it count as ended.
  explicit Index(std::uint32_t origin = 0);
  ~Index();

  std::optional<Location> find(const Key& key) const;
  // The same, and marks the entry as used.
  std::optional<Location> use(const Key& key);
  // Adds uses of the same response in memory.
  void add_hits(const Key& key, std::uint32_t hits);
  // Replaces what is found under the key.
  void put(const Key& key, const Location& place);
  // Whether an entry was found.
  bool erase(const Key& key);
  // Only where the entry is still at that position; whether it was. replace_at() is for another
  // record of the same response: the hits stay.
  bool erase_at(const Key& key, Position at);
  bool replace_at(const Key& key, Position at, const Location& place);
  // Sets claimable_until, where the entry is still at that position.
  void set_claim(const Key& key, Position at, std::uint32_t until);

  // Erases every entry of the segment; how many. Looks at all entries.
  std::size_t erase_segment(std::uint32_t segment);

  // Visits the entries of one shard, under its lock, in no order; `visit` must not call the index.
  // There is no order by expiry: it would cost more than it saves, as a million entries are visited
  // in 5 ms (disk_bench).
  void each_in(std::size_t shard,
               const std::function<void(const Key&, const Location&)>& visit) const;
  // Visits all entries, one shard after the other.
  void each(const std::function<void(const Key&, const Location&)>& visit) const;
  void clear();
  // Frees the memory that maps have for more entries than there are.
  void shrink();

  // Claims: the keys that neighbours may be told of. A key is claimed while the store above the
  // disk claims it, or while its location is claimable. Changes are kept from the first
  // list_claims() on.
  struct ClaimChange {
    Key key;
    bool added = false;  // else removed
  };
  void claim_above(const Key& key);
  void unclaim_above(const Key& key);
  // Lists all keys claimed. `outlast`: seconds since 1970. The claim of a location that ends by
  // then does not count; it may cease to count up to kClaimTurn seconds earlier, as all entries are
  // looked at once in that time.
  void list_claims(std::uint32_t outlast, std::vector<Key>& out);
  // Collects the changes since the last call; for each key in order, added and removed in turn.
  // False: there were too many changes, and all claims must be listed anew. One caller at a time.
  bool collect_claims(std::uint32_t outlast, std::vector<ClaimChange>& out);
  static constexpr std::uint32_t kClaimTurn = 4;
  // While there is a reason, no location is claimed.
  void suspend_claims(Unclaimed why, bool is_so);

  std::size_t entries() const { return entries_.load(std::memory_order_relaxed); }
  // Entries of one kind.
  std::size_t count(RecordKind kind) const;
  // Memory of the maps, and of the sets of keys claimed above.
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // Entries of the largest shard: how many one growth may move.
  std::size_t largest_shard() const;

 private:
  IndexShard& shard_of(const Key& key) const;

  const std::uint32_t origin_;
  std::atomic<std::size_t> entries_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<std::uint8_t> suspended_ = 0;  // a bit for each reason
  std::unique_ptr<IndexShard[]> shards_;
};

}  // namespace proxy::cache::disk
