// Heads of entries on disk, kept decoded while their bodies are left in their files.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "peers/threads/mutex.hpp"
#include "proxy/cache/disk/stored_record.hpp"
#include "proxy/cache/entry.hpp"

namespace proxy::cache {

// What a hit needs of a record whose head was read and decoded before.
struct KnownHead {
  // `front`: the segment of the record that has the head.
  KnownHead(Ref<const Entry> its_entry, std::uint64_t its_selector, disk::StoredBody body,
            const std::shared_ptr<const disk::Segment>& front);

  // The body. Nothing if one of the segments was reclaimed, or if another directory has taken its
  // number since: then the head is not known any more.
  std::optional<disk::StoredBody> body(const disk::Segments& segments) const;

  const Ref<const Entry> entry;  // without its body, but with its length
  const std::uint64_t selector;  // as in SavedHead
  const disk::StoredBody place;  // of the body, without its segment

 private:
  using Segment = std::weak_ptr<const disk::Segment>;  // a reclaimed one is closed all the same

  Segment front_segment_;
  Segment body_segment_;
};

// The heads by the positions of their records. The bytes at a position never change, so a head is
// never outdated: if the entry is replaced, refreshed, purged or dropped, look-ups in the index
// find another position, or none. Such a head stays until the table needs its room. Takes at most
// an eighth of the budget, and forgets the heads that were not used of late (CLOCK). Any thread.
class KnownHeads {
 public:
  using Head = std::shared_ptr<const KnownHead>;

  // The budget outlives the table.
  explicit KnownHeads(Budget& budget) : budget_(budget) {}
  ~KnownHeads() { clear(); }
  KnownHeads(const KnownHeads&) = delete;
  KnownHeads& operator=(const KnownHeads&) = delete;

  // The head of the record at this position, or null. Counts as a use.
  Head find(disk::Position at);
  // Keeps the head, unless it is large.
  void record(Head head);
  // Forgets all.
  void clear();
  // The memory of all heads.
  std::uint64_t bytes() const;

 private:
  struct Slot {
    Head head;
    bool used = false;
  };
  struct Shard {
    mutable threads::Mutex mutex;
    std::unordered_map<std::uint64_t, Slot> heads GUARDED_BY(mutex);  // by position
    std::deque<std::uint64_t> order GUARDED_BY(mutex);                // the next to forget first
    std::uint64_t bytes GUARDED_BY(mutex) = 0;
  };
  static constexpr std::size_t kShards = 16;

  Shard& shard_of(std::uint64_t at);
  std::vector<Head> forget_some(Shard& shard) REQUIRES(shard.mutex);

  Budget& budget_;
  std::array<Shard, kShards> shards_;
};

}  // namespace proxy::cache
