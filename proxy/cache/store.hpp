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
  std::uint64_t max_object = UINT64_MAX;  // bytes of one body that is stored here
  std::size_t variants = 16;              // of one URL; the oldest is dropped first
  std::size_t changes = 8192;             // waiting per shard before the digest must be rebuilt
  // How long a key counts as gone after the digest dropped its claim: as long as a neighbour may
  // use a digest that still has it.
  std::chrono::seconds remembered{60};
};

enum class Stored : std::uint8_t {
  yes,
  too_large,
  no_room,  // memory in use elsewhere (fills, entries being sent) leaves none
};

// Entries by key, and under a key by what Vary selects. Evicts by S3-FIFO over bytes when the
// budget, including everything else charged to it, exceeds its limit. Sharded by key: every call
// except entries() and bytes() briefly takes the lock of one shard at a time, and destroys what it
// drops after releasing it. An evicted entry that is being sent lives on in its shared_ptr and
// stays charged. `now` never steps back by more than calls overlap. Any thread.
class Store {
 public:
  // `below` is the index of the disk under this memory, if there is one; it must outlive the store.
  // It receives the claims, and supplies the changes of both.
  explicit Store(Budget& budget, const StoreLimits& limits = {}, disk::Index* below = nullptr);
  ~Store();

  // Returns the variant that answers a request with these fields; of several, one with Vary before
  // one without (4.1), then the one with the latest Date (RFC 9111 4). Counts as a use. `url` is
  // compared with the stored one, so a colliding key finds nothing.
  Found find(const digest::Key& key, std::string_view url, const http::Fields& request) const;

  // Stores the entry in place of the variant that the same requests select, and in place of
  // `superseded`, whose validation it answered (RFC 9111 4.3.3). Makes room first: afterwards the
  // budget is within its limit, or the entry was not stored.
  Stored put(const digest::Key& key, std::shared_ptr<const Entry> entry, Time now,
             const Entry* superseded = nullptr);

  // Stores an entry read back from disk unless a variant is stored that the same requests select.
  // Returns the entry that is stored afterwards.
  std::shared_ptr<const Entry> adopt(const digest::Key& key, std::shared_ptr<const Entry> entry,
                                     Time now);
  // Whether a variant was used since it was stored or last considered for eviction.
  bool was_used(const digest::Key& key) const;
  // Whether any variant is stored under the key, whatever its URL. Does not count as a use.
  bool holds(const digest::Key& key) const;
  // Drops exactly this entry.
  void drop(const digest::Key& key, const Entry& entry);

  // Drop all variants and return how many there were. invalidate() only does so if they belong to
  // this URL.
  std::size_t remove(const digest::Key& key);
  std::size_t invalidate(const digest::Key& key, std::string_view url);

  // Drops every response stored under a name that `matches`, and returns how many. Responses stored
  // while it runs may remain. Holds a lock for about 100 entries at a time, but looks at every
  // entry: not for an I/O thread.
  std::size_t remove_if(const std::function<bool(std::string_view)>& matches);

  // A stored response, and how often it was found since it was stored here.
  struct Held {
    digest::Key key;
    std::shared_ptr<const Entry> entry;
    std::uint32_t hits = 0;
  };
  // What is stored under the key, whatever its URL. Does not count as a use.
  void look(const digest::Key& key, std::vector<Held>& out) const;
  // All keys stored in one of kShards shards; and what is stored under some of them.
  static constexpr std::size_t kShards = 64;
  void list(std::size_t shard, std::vector<digest::Key>& out) const;
  void look(std::size_t shard, std::span<const digest::Key> keys, std::vector<Held>& out) const;

  // Evicts until the budget is within its limit. Returns false if nothing is left to evict and the
  // budget still exceeds it.
  bool make_room();

  std::uint64_t max_object() const { return limits_.max_object; }
  std::size_t entries() const { return entries_.load(std::memory_order_relaxed); }
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  // Returns what changed since the last call, in order per key; additions and removals of a key
  // alternate. Applied to the earlier changes, `out` yields exactly the set of keys claimed at
  // `now`, unless another thread changes the store meanwhile; then the next call returns the rest.
  // One caller at a time.
  Collected collect(Time now, std::vector<KeyChange>& out);
  // All keys claimed at `now`. The next collect() returns the changes from then on. Scans the store
  // one shard at a time: for the start and after an overflow.
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
  std::atomic<std::uint64_t> small_bytes_ = 0;  // of the small parts of all shards
  std::atomic<std::size_t> turn_ = 0;           // the shard that evicts next
  std::vector<std::unique_ptr<Shard>> shards_;
};

}  // namespace proxy::cache
