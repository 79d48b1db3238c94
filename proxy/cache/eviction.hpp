// Makes room in the store, over all its shards.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "proxy/cache/budget.hpp"
#include "proxy/cache/s3_fifo.hpp"

namespace proxy::cache {

class Shard;

// The sums over all shards.
struct Totals {
  std::atomic<std::size_t> entries = 0;
  std::atomic<std::size_t> blocks = 0;  // of these: of objects, without a head of their own
  std::atomic<std::uint64_t> bytes = 0;
  std::atomic<std::uint64_t> small_bytes = 0;  // of the small parts
  std::atomic<std::uint64_t> evicted = 0;      // to make room
  std::atomic<std::uint64_t> duplicates = 0;   // of these: see KeptElsewhere
};

// Decides from which part of which shard the next entry is evicted. Any thread.
class Eviction {
 public:
  using Shards = std::vector<std::unique_ptr<Shard>>;

  // All outlive this object.
  Eviction(Budget& budget, const Shards& shards, const Totals& totals)
      : budget_(budget), shards_(shards), totals_(totals) {}

  // The paper's 10 %, over all shards: in a small cache, one shard's tenth may be less than one
  // object.
  static std::uint64_t small_target(const Budget& budget) { return budget.limit() / 10; }

  // Evicts until the budget is within its limit or nothing is left to evict. Returns whether the
  // budget is within its limit.
  bool make_room();
  // As make_room(), for an entry of this shard.
  bool make_room_at(Shard& shard);

 private:
  S3Fifo::Part part_to_shrink() const;
  bool evict_somewhere(S3Fifo::Part part);
  bool forget_ghosts();

  Budget& budget_;
  const Shards& shards_;
  const Totals& totals_;
  std::atomic<std::size_t> turn_ = 0;  // the shard that evicts next
};

}  // namespace proxy::cache
