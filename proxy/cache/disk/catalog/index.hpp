// What is on disk, and where: an exact index in memory.
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

// Why what lies on the disk is not claimed for the time being.
enum class Unclaimed : std::uint8_t {
  searching = 1,  // it may be purged: that is being looked for
  hanging = 2,    // it cannot be read
};

// Keys and their places, in 128 flat maps without a node per entry. The maps have unequal shares of
// the keys, from s to 2 s, so that they double one after the other and not all at once: between
// half a million and 2 million entries it takes at most 55 bytes per entry (index_memory_test),
// and no growth moves more than 1 in 90 of the entries. Any thread; each call but each(), clear()
// and shrink() takes one shard's lock, for as long as one look-up takes. A call for a key that
// arrives later than another one of the same thread sees what that one did.
class Index {
 public:
  static constexpr std::size_t kShards = 128;

  // `origin`: a second since 1970 that is past; claims that end before it count as ended.
  explicit Index(std::uint32_t origin = 0);
  ~Index();

  std::optional<Location> find(const Key& key) const;
  // Likewise, and marks it as used.
  std::optional<Location> use(const Key& key);
  // What was found elsewhere of what lies there.
  void add_hits(const Key& key, std::uint32_t hits);
  // In place of what was there.
  void put(const Key& key, const Location& place);
  // Whether it was there.
  bool erase(const Key& key);
  // Only if it is still at that position. What replaces it there is the same anew: its hits stay.
  bool erase_at(const Key& key, Position at);
  bool replace_at(const Key& key, Position at, const Location& place);
  // Only until when it is claimable, likewise.
  void set_claim(const Key& key, Position at, std::uint32_t until);

  // All of one segment; looks at every entry.
  std::size_t erase_segment(std::uint32_t segment);

  // The entries of one shard, under its lock, in no order; `visit` must not call back. No order of
  // expiry is kept, as it would cost more than it saves: a million entries are looked through in 5
  // ms (disk_bench).
  void each_in(std::size_t shard,
               const std::function<void(const Key&, const Location&)>& visit) const;
  // All of them, a shard after the other.
  void each(const std::function<void(const Key&, const Location&)>& visit) const;
  void clear();
  // Gives back what maps have allocated for more entries than there are.
  void shrink();

  // What a neighbour may be told to find here: a key is claimed while whoever keeps entries above
  // the disk says so, and while its place is claimable. Followed from the first list_claims() on.
  struct ClaimChange {
    Key key;
    bool added = false;  // else removed
  };
  void claim_above(const Key& key);
  void unclaim_above(const Key& key);
  // All keys claimed. `outlast`: seconds since 1970; a claim of a place that ends by then is none,
  // nor for kClaimTurn seconds longer: all places are looked at once in that time.
  void list_claims(std::uint32_t outlast, std::vector<Key>& out);
  // What changed since the last call, for each key in order, added and removed in turn. False: too
  // much did, or all, and what is claimed has to be listed. One caller at a time.
  bool collect_claims(std::uint32_t outlast, std::vector<ClaimChange>& out);
  static constexpr std::uint32_t kClaimTurn = 4;
  // While there is a reason, no place is claimed, whatever it says.
  void suspend_claims(Unclaimed why, bool is_so);

  std::size_t entries() const { return entries_.load(std::memory_order_relaxed); }
  // Those of one kind.
  std::size_t count(RecordKind kind) const;
  // What the maps have allocated, and the sets of what is claimed above.
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // Of the shard that grew most: what one growth may move.
  std::size_t largest_shard() const;

 private:
  IndexShard& shard_of(const Key& key) const;

  const std::uint32_t origin_;
  std::atomic<std::size_t> entries_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<std::uint8_t> suspended_ = 0;  // each reason's bit
  std::unique_ptr<IndexShard[]> shards_;
};

}  // namespace proxy::cache::disk
