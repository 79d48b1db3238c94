#include "proxy/cache/eviction.hpp"

#include "proxy/cache/shard.hpp"

namespace proxy::cache {

bool Eviction::make_room() {
  using Part = S3Fifo::Part;
  while (budget_.over()) {
    const Part first = part_to_shrink();
    const Part second = first == Part::small ? Part::main : Part::small;
    if (!evict_somewhere(first) && !evict_somewhere(second)) return forget_ghosts();
  }
  return true;
}

// The shard that grows evicts first if it holds more entries than the average. Counts entries and
// not bytes: one large object must not displace the others in its shard.
bool Eviction::make_room_at(Shard& shard) {
  while (budget_.over() &&
         shard.entries() * shards_.size() > totals_.entries.load(std::memory_order_relaxed)) {
    if (!shard.evict(part_to_shrink())) break;
  }
  return make_room();
}

S3Fifo::Part Eviction::part_to_shrink() const {
  const bool small = totals_.small_bytes.load(std::memory_order_relaxed) >= small_target(budget_);
  return small ? S3Fifo::Part::small : S3Fifo::Part::main;
}

bool Eviction::evict_somewhere(S3Fifo::Part part) {
  for (std::size_t tried = 0; tried < shards_.size(); ++tried) {
    Shard& shard = *shards_[turn_.fetch_add(1, std::memory_order_relaxed) % shards_.size()];
    if (shard.evict(part)) return true;
  }
  return false;
}

// Frees the memory of past evictions, as the last resort. Returns whether that was enough.
bool Eviction::forget_ghosts() {
  for (const auto& shard : shards_) shard->forget_ghosts();
  return !budget_.over();
}

}  // namespace proxy::cache
