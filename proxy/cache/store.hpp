// The cache in memory, shared by all threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "digest/key.hpp"
#include "digest/rule.hpp"
#include "peers/threads/alarm.hpp"
#include "proxy/cache/budget.hpp"
#include "proxy/cache/departures.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/cache/s3_fifo.hpp"

namespace proxy::cache {

namespace disk {
class Index;
}
class Shard;
struct Node;

// A key is claimed while a whole variant stays claimable for longer than this from now, so that a
// claim is still true when a neighbour has read it and asks.
inline constexpr std::chrono::seconds kClaimAhead{5};

using digest::Collected;
using digest::KeyChange;

// Whether another cache keeps the response of the URL, so that this cache may evict it first. The
// argument is our own claim; the other cache may claim the response for everybody or by the same
// rule. Called under locks, so it neither locks nor waits.
using KeptElsewhere = std::function<bool(const digest::Claim&)>;

struct StoreLimits {
  std::uint64_t max_object = UINT64_MAX;  // most bytes of one body stored here
  std::size_t variants = 16;              // of one URL; the one used least is dropped first
  std::size_t changes = 8192;             // waiting per shard before the digest must be rebuilt
  // How long a key counts as gone after the digest dropped its claim: as long as a neighbour may
  // use a digest that still claims it.
  std::chrono::seconds remembered{60};
  KeptElsewhere kept_elsewhere = {};  // empty: nothing is
};

enum class Stored : std::uint8_t {
  yes,
  too_large,
  no_room,  // fills and entries being sent use the memory
};

// The sums over all shards.
struct Totals {
  std::atomic<std::size_t> entries = 0;
  std::atomic<std::size_t> blocks = 0;  // of these: of objects, without a head of their own
  std::atomic<std::uint64_t> bytes = 0;
  std::atomic<std::uint64_t> small_bytes = 0;  // of the small parts
  std::atomic<std::uint64_t> evicted = 0;      // to make room
  std::atomic<std::uint64_t> duplicates = 0;   // of these: see KeptElsewhere
  std::atomic<std::uint64_t> lost = 0;  // of these: not kept elsewhere, nor on disk; no blocks
};

// Entries by key, and under a key by what Vary selects. Evicts by S3-FIFO over bytes when the
// budget, including everything else charged to it, exceeds its limit. Entries that another cache
// keeps, too, are evicted first, unless the disk below has them: their eviction loses nothing
// anyhow. An evicted entry that is being sent lives on in its references and stays charged.
//
// The store is sharded by key. A call holds the lock of one shard at a time, briefly, and releases
// it before it destroys what it drops; entries(), responses() and totals() take no lock. `now`
// never steps back by more than the time for which calls overlap. Any thread.
class Store {
 public:
  // `below` is the index of the disk under this memory, if there is one; it must outlive the store.
  // The index receives the claims, and supplies the changes of both tiers. `newly_claimed`, which
  // may be null, rings when a key begins to be claimed, unless only its blocks on disk decide that.
  explicit Store(Budget& budget, const StoreLimits& limits = {}, disk::Index* below = nullptr,
                 threads::Alarm* newly_claimed = nullptr);
  ~Store();

  // Returns the variant that answers a request with these fields; of several, one with Vary before
  // one without (4.1), then the one with the latest Date (RFC 9111 4). Counts as a use. `url` is
  // compared with the stored one, so a colliding key finds nothing.
  Found find(const digest::Key& key, std::string_view url, const http::Fields& request) const;

  // Finds as find() does, but does not count as a use.
  Found peek(const digest::Key& key, std::string_view url, const http::Fields& request) const;

  // When the URL left the digest: never if it is stored. See StoreLimits::remembered.
  Departed departed(const digest::Key& key, std::string_view url) const;

  // Stores the response in place of the variant that the same requests select, and in place of
  // `superseded`, whose validation it answered (RFC 9111 4.3.3). Makes room first: afterwards the
  // budget is within its limit, or the response was not stored.
  Stored put(const digest::Key& key, Kept response, Time now, const Entry* superseded = nullptr);

  // Stores a response read back from disk unless a variant is stored that the same requests select.
  // Returns the response that is stored afterwards.
  Kept adopt(const digest::Key& key, Kept response, Time now);
  // Whether a response read back from the system's page cache is to be adopted: memory has room for
  // it, or it was in memory or read back lately (S3Fifo::returns()). If not, remembers that it was
  // read back. The entry is charged already.
  [[nodiscard]] bool is_worth_room(const digest::Key& key, const Entry& entry);
  // Whether a variant was used since it was stored or last considered for eviction.
  bool was_used(const digest::Key& key) const;
  // Whether any variant is stored under the key, whatever its URL. Does not count as a use.
  bool holds(const digest::Key& key) const;
  // Drops exactly this entry.
  void drop(const digest::Key& key, const Entry& entry);

  // Both drop all variants and return how many there were. invalidate() drops them only if they
  // belong to this URL.
  std::size_t remove(const digest::Key& key);
  std::size_t invalidate(const digest::Key& key, std::string_view url);

  // Drops every entry that `matches`, blocks of objects too, and returns the number of responses.
  // Entries stored while it runs may remain. Holds a lock for about 100 keys at a time, but looks
  // at every entry: not for an I/O thread.
  std::size_t remove_if(const std::function<bool(const Entry&)>& matches);

  // A stored response, and how often it was found since it was stored here.
  struct Response {
    digest::Key key;
    Ref<const Entry> entry;
    std::shared_ptr<OnDisk> on_disk;  // as in Kept
    std::uint32_t hits = 0;
  };
  // Appends the responses stored under the key, whatever their URL. Does not count as a use.
  void look(const digest::Key& key, std::vector<Response>& out) const;
  // list() appends all keys of one of kShards shards; look() appends the responses under some of
  // them.
  static constexpr std::size_t kShards = 64;
  void list(std::size_t shard, std::vector<digest::Key>& out) const;
  void look(std::size_t shard, std::span<const digest::Key> keys, std::vector<Response>& out) const;

  // Evicts until the budget is within its limit or nothing is left to evict. Returns whether the
  // budget is within its limit.
  bool make_room();
  // Adapts to another limit of the budget, and makes room. `max_object`: as in StoreLimits, for
  // what is stored from now on. What was sized by the budget at the start keeps its size: the
  // tables of departures.
  void follow_budget(std::uint64_t max_object);

  std::uint64_t max_object() const { return max_object_.load(std::memory_order_relaxed); }
  std::size_t entries() const { return totals_.entries.load(std::memory_order_relaxed); }
  // The entries that are no blocks of objects.
  std::size_t responses() const {
    const auto blocks = totals_.blocks.load(std::memory_order_relaxed);
    const auto all = entries();
    return all < blocks ? 0 : all - blocks;
  }
  const Totals& totals() const { return totals_; }

  // Call this when an earlier run of this proxy has had claims: which keys have left before `now`
  // is not known (Departed::forgotten).
  void lose_departures(Time now);

  // Appends the changes since the last call, in order per claim; beginnings and ends of a claim
  // alternate. Applied to the earlier changes, `out` yields exactly the set of claims at `now`,
  // unless another thread changes the store meanwhile; then the next call returns the rest. One
  // caller at a time.
  Collected collect(Time now, std::vector<KeyChange>& out);
  // Lists all claims at `now`. The next collect() returns the changes from then on. Scans the store
  // one shard at a time, so call this at the start and after an overflow only.
  void list_claimed(Time now, std::vector<digest::Claim>& out);

 private:
  using Matches = std::function<bool(const Node&)>;

  Shard& shard_of(const digest::Key& key) const;
  // Drops the variants under the key that match, and returns how many responses they were.
  std::size_t remove_at(const digest::Key& key, const Matches& matches);
  // Makes room as make_room() does, for an entry of this shard.
  bool make_room_at(Shard& shard);
  // Returns whether there was an entry to evict.
  bool evict(Shard& shard, S3Fifo::Part part);

  Budget& budget_;
  const StoreLimits limits_;
  std::atomic<std::uint64_t> max_object_;
  disk::Index* const below_;
  Totals totals_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::atomic<std::size_t> turn_ = 0;  // the shard that evicts next
};

}  // namespace proxy::cache
