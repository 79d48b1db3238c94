// Where each entry lies on disk: an exact index in memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "digest/rule.hpp"
#include "proxy/cache/disk/format.hpp"

namespace proxy::cache::disk {

inline constexpr std::uint16_t kMostHits = (1U << 12) - 1;

// The facts that the index has of one entry.
struct Location {
  Position at{};
  std::uint32_t bytes = 0;  // of the record; the index rounds up by at most 1/32 or 15 bytes
  std::uint32_t claimable_until = 0;  // seconds since 1970; 0: never
  RecordKind kind = RecordKind::whole;
  bool used = false;          // a request found the entry since the record was written
  std::uint16_t hits = 0;     // since the start; at most kMostHits
  digest::RuleMark rule = 0;  // of the claim; 0: it is for everybody

  bool operator==(const Location&) const = default;
};

inline Location location_of(const Listed& listed, std::uint32_t segment) {
  return {.at = {segment, listed.offset},
          .bytes = listed.bytes,
          .claimable_until = listed.claimable_until,
          .kind = listed.kind,
          .rule = listed.rule};
}

class IndexShard;

using digest::Claim;

// Why no entry on disk may be claimed for now.
enum class Unclaimed : std::uint8_t {
  searching = 1,  // a purge by prefix may cover the entry; the search has not reached it yet
  hanging = 2,    // the disk does not answer
};

// Keys and locations, in 128 flat maps without a node per entry. The maps have unequal shares of
// the keys: the largest share is twice the smallest. So the maps double one after the other and not
// all at once. Between half a million and 2 million entries the index takes at most 57 bytes per
// entry (index_memory_test), and no growth moves more than 1 in 90 of the entries.
//
// Any thread. A call for one key locks one shard for the time of one look-up. A call for all
// entries locks one shard after the other.
class Index {
 public:
  static constexpr std::size_t kShards = 128;

  // `origin`: seconds since 1970, in the past. A claim that ends before it counts as ended.
  explicit Index(std::uint32_t origin = 0);
  ~Index();

  std::optional<Location> find(const Key& key) const;
  // Finds the location as find() does, and marks the entry as used.
  std::optional<Location> use(const Key& key);
  // Adds hits that the same response had in memory.
  void add_hits(const Key& key, std::uint32_t hits);
  // Adds the entry, or replaces the one under the key.
  void put(const Key& key, const Location& place);
  // Applies the records of one segment in their order: a purge or loss of a key erases, a newer
  // head replaces the entry if there is one, and any other record counts as put(). The records of
  // one shard are applied together, which costs half of what put() costs: at most one shard's map
  // at a time is fetched into the processor's cache. No record may be of more than one key.
  void apply(std::span<const Listed> records, std::uint32_t segment);
  // Returns whether there was an entry.
  bool erase(const Key& key);
  // Each of the next functions changes the entry only if it is still at that position, and returns
  // whether it was. replace_at() is for another record of the same response: it keeps the hits.
  bool erase_at(const Key& key, Position at);
  bool replace_at(const Key& key, Position at, const Location& place);
  // Sets claimable_until, if the entry is still at that position.
  void set_claim(const Key& key, Position at, std::uint32_t until);

  // Erases every entry of the segment, and returns their number. Looks at all entries.
  std::size_t erase_segment(std::uint32_t segment);

  // Visits the entries of one shard in no order, and under the shard's lock: `visit` must not call
  // the index. The index keeps no order by expiry, because that would cost more than it saves: to
  // visit a million entries takes 5 ms (disk_bench).
  void each_in(std::size_t shard,
               const std::function<void(const Key&, const Location&)>& visit) const;
  // Visits all entries, one shard after the other.
  void each(const std::function<void(const Key&, const Location&)>& visit) const;
  void clear();
  // Frees the memory that the maps keep for further entries.
  void shrink();

  // A claim is a key that our digest may claim, for all neighbours or for those that have a rule.
  // The claim holds while the store in memory makes it, or while the location of its key is
  // claimable with the same rule. The index keeps changes for collect_claims() from the first
  // list_claims() on. This function records that the store begins or ceases to make a claim, and
  // returns whether that changes the claims.
  bool change_above(const Claim& claim, digest::KeyChange::What what);
  // Lists all claims. `outlast`: seconds since 1970. A location whose claim ends by then does
  // not count. A claim may cease to count up to kClaimTurn seconds too early, because each entry is
  // looked at only once in that time.
  void list_claims(std::uint32_t outlast, std::vector<Claim>& out);
  // Collects the changes since the last call. The changes of one claim are in order: added and
  // removed alternate. If there were too many changes, all claims must be listed again. One caller
  // at a time.
  digest::Collected collect_claims(std::uint32_t outlast, std::vector<digest::KeyChange>& out);
  static constexpr std::uint32_t kClaimTurn = 4;
  // The next two functions set and clear one reason to claim nothing. While there is any, no
  // location is claimed.
  void suspend_claims(Unclaimed why);
  void resume_claims(Unclaimed why);

  std::size_t entries() const { return entries_.load(std::memory_order_relaxed); }
  // Entries of one kind.
  std::size_t count(RecordKind kind) const;
  // Memory of the maps, and of the claims of the store above.
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  IndexShard& shard_of(const Key& key) const;

  const std::uint32_t origin_;
  std::atomic<std::size_t> entries_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<std::uint8_t> suspended_ = 0;  // a bit for each reason
  std::unique_ptr<IndexShard[]> shards_;
};

// The walk ends where the log ended when the walk began. Other threads may change the index
// meanwhile:
// - It visits an entry that stays in the index exactly once, even if reclaiming copies the entry to
//   another position after the walk has gathered it.
// - It misses an entry that reclaiming copies before the walk has gathered it.
// - It may or may not visit an entry that is added or erased meanwhile.
// To gather the next 65,536 entries, the walk looks at all entries of the index and locks one index
// shard at a time. It takes a few MiB of memory. For one thread at a time.
class Walk {
 public:
  struct Step {
    Key key;
    Location place;
  };

  // Visits only entries for which `wanted` returns true.
  Walk(const Index& index, std::function<bool(const Location&)> wanted);

  // The next entry; nothing at the end.
  std::optional<Step> next();

 private:
  static constexpr std::size_t kAhead = 65'536;

  struct Ahead {
    Key key;
    Position at;
  };

  static bool lies_before(const Ahead& a, const Ahead& b) { return a.at < b.at; }
  void gather();

  const Index& index_;
  const std::function<bool(const Location&)> wanted_;
  Position end_{};            // of the last entry when the walk began
  Position passed_{};         // entries up to here were gathered
  std::vector<Ahead> ahead_;  // gathered entries, in the order of the log
  std::size_t met_ = 0;       // how many of ahead_ were visited
};

}  // namespace proxy::cache::disk
