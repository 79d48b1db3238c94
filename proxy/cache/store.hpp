// The cache in memory, shared by all threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "digest/key.hpp"
#include "proxy/cache/budget.hpp"
#include "proxy/cache/claims.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/cache/s3_fifo.hpp"

namespace proxy::cache {

class Shard;
namespace disk {
class Index;
}

struct StoreLimits {
  std::uint64_t max_object = UINT64_MAX;  // bytes of one body that is held here
  std::size_t variants = 16;              // of one URL; the oldest goes first
  std::size_t changes = 8192;             // waiting per shard, before the digest must start anew
  // How long a key counts as gone after the digest ceased to claim it: as long as a neighbour may
  // go by what it was told before.
  std::chrono::seconds remembered{60};
};

enum class Stored : std::uint8_t {
  yes,
  too_large,
  no_room,  // what is in use elsewhere (fills, entries being sent) leaves none
};

// Entries by key, and under a key by what Vary selects. Evicts by S3-FIFO over bytes whenever the
// budget, with all that others charge to it, is over its limit. Sharded by key: every call but
// entries() and bytes() takes one shard's lock at a time, briefly, and destroys what it drops after
// letting go. What is evicted while being sent lives on by its shared_ptr, and stays charged.
// `now` never steps back by more than calls overlap. Any thread.
class Store {
 public:
  // `below`: the index of the disk under this memory, if there is one, which outlives the store.
  // What is claimed is told there, and collected from there for both.
  explicit Store(Budget& budget, const StoreLimits& limits = {}, disk::Index* below = nullptr);
  ~Store();

  // The variant that answers a request with these fields: of several the one of the latest Date
  // (RFC 9111 4), but one with Vary before one without (4.1). Counts as a use. `url` is compared
  // with what is stored: a key that collides finds nothing.
  Found find(const digest::Key& key, std::string_view url, const http::Fields& request) const;

  // Keeps it in place of the variant that the same requests select, and of `superseded`, in answer
  // to whose validation it came (RFC 9111 4.3.3). Makes room first: afterwards the budget is within
  // its limit, or it was not stored.
  Stored put(const digest::Key& key, std::shared_ptr<const Entry> entry, Time now,
             const Entry* superseded = nullptr);

  // Keeps what was read back from the disk, unless a variant is held that the same requests select:
  // the entry that is held then, or this one.
  std::shared_ptr<const Entry> adopt(const digest::Key& key, std::shared_ptr<const Entry> entry,
                                     Time now);
  // Whether a variant of it was used since it came or last had to give room.
  bool was_used(const digest::Key& key) const;
  // Whether a variant of it is held, of whatever URL. No use of it.
  bool holds(const digest::Key& key) const;
  // Drops this very entry.
  void drop(const digest::Key& key, const Entry& entry);

  // Drops all variants; how many there were. invalidate() only if they are of this URL.
  std::size_t remove(const digest::Key& key);
  std::size_t invalidate(const digest::Key& key, std::string_view url);

  // Drops all that is stored under a name that `matches`; how many responses. Of what is put while
  // it runs some may stay. Holds a lock for some 100 entries at a time, but takes as long as it
  // takes to look at every entry: not for an I/O thread.
  std::size_t remove_if(const std::function<bool(std::string_view)>& matches);

  // One response that is held, and how often it was found since it came here.
  struct Held {
    digest::Key key;
    std::shared_ptr<const Entry> entry;
    std::uint32_t hits = 0;
  };
  // What is held under the key, of whatever URL. No use of it.
  void look(const digest::Key& key, std::vector<Held>& out) const;
  // All keys that are held in one of kShards parts; and what is held under some of them.
  static constexpr std::size_t kShards = 64;
  void list(std::size_t shard, std::vector<digest::Key>& out) const;
  void look(std::size_t shard, std::span<const digest::Key> keys, std::vector<Held>& out) const;

  // Evicts until the budget is within its limit. False when all is gone and it still is not.
  bool make_room();

  std::uint64_t max_object() const { return limits_.max_object; }
  std::size_t entries() const { return entries_.load(std::memory_order_relaxed); }
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  // What changed since the last call, per key in order: a key is added once and removed once per
  // stay. `out` plus what came before is exactly the set of keys claimed at `now`, unless another
  // thread changes it meanwhile; then the rest comes with the next call. One caller at a time.
  Collected collect(Time now, std::vector<KeyChange>& out);
  // All keys claimed at `now`. Changes from then on are what the next collect() tells. Scans the
  // store, a shard at a time: for a start and after an overflow.
  void list_claimed(Time now, std::vector<digest::Key>& out);

 private:
  Shard& shard_of(const digest::Key& key) const;
  bool make_room_at(Shard& shard);
  S3Fifo::Part part_to_shrink() const;
  bool evict_somewhere(S3Fifo::Part part);
  bool forget_ghosts();

  Collected collect_below(Time now, std::vector<KeyChange>& out);

  Budget& budget_;
  const StoreLimits limits_;
  disk::Index* const below_;
  std::atomic<std::size_t> entries_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<std::uint64_t> small_bytes_ = 0;  // in the small parts of all shards
  std::atomic<std::size_t> turn_ = 0;           // the shard that evicts next
  std::vector<std::unique_ptr<Shard>> shards_;
};

}  // namespace proxy::cache
