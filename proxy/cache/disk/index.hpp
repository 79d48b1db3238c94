// What is on disk, and where: an exact index in memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "proxy/cache/disk/place.hpp"

namespace proxy::cache::disk {

class IndexShard;

// Keys and their places, in 128 flat maps without a node per entry. The maps have unequal shares of
// the keys, from s to 2 s, so that they double one after the other and not all at once: between
// half a million and 2 million entries it takes at most 49.5 bytes per entry (index_memory_test),
// and no growth moves more than 1 in 90 of the entries. Any thread; each call but each(), clear()
// and shrink() takes one shard's lock, for as long as one look-up takes. A call for a key that
// arrives later than another one of the same thread sees what that one did.
class Index {
 public:
  static constexpr std::size_t kShards = 128;

  // `origin`: a second since 1970 that is past; claims that end before it count as ended.
  explicit Index(std::uint32_t origin = 0);
  ~Index();

  std::optional<Place> find(const Key& key) const;
  // Likewise, and marks it as used.
  std::optional<Place> use(const Key& key);
  // In place of what was there.
  void put(const Key& key, const Place& place);
  // Whether it was there.
  bool erase(const Key& key);
  // Only if it is still at that position.
  bool erase_at(const Key& key, Position at);
  bool replace_at(const Key& key, Position at, const Place& place);

  // All of one segment; looks at every entry.
  std::size_t erase_segment(std::uint32_t segment);

  // The entries of one shard, under its lock, in no order; `visit` must not call back. No order of
  // expiry is kept, as it would cost more than it saves: who has to know which claims end soon asks
  // all shards in turn, each once in a while, for those that end before its next turn (a million
  // entries take 5 ms together, disk_bench).
  void each_in(std::size_t shard, const std::function<void(const Key&, const Place&)>& visit) const;
  // All of them, a shard after the other.
  void each(const std::function<void(const Key&, const Place&)>& visit) const;
  void clear();

  std::size_t entries() const { return entries_.load(std::memory_order_relaxed); }
  // What the maps have allocated.
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // Of the shard that grew most: what one growth may move.
  std::size_t largest_shard() const;

 private:
  IndexShard& shard_of(const Key& key) const;

  const std::uint32_t origin_;
  std::atomic<std::size_t> entries_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::unique_ptr<IndexShard[]> shards_;
};

}  // namespace proxy::cache::disk
