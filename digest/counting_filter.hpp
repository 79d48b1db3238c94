// A Bloom filter that supports removal: a cache keeps one over the keys that it holds.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "digest/bloom_filter.hpp"
#include "digest/key.hpp"
#include "digest/shape.hpp"

namespace digest {

// Counts in 4 bits how many of the current keys have each position (a key whose positions coincide
// counts once there; Fan, Cao, Almeida, Broder 2000). A counter that reached 15 stays at 15. Its
// bit may therefore stay set for too long but is never cleared too early; overflow_bound() in
// sizing.hpp says how rarely that happens.
//
// There are no false negatives as long as a key is removed at most as often as it was added.
// Removing a key that was never added, but that the filter claims, clears bits of other keys, and
// the filter cannot detect it. The caller must therefore know exactly which keys the filter holds.
// A cache does: it adds a key when it stores the first variant under the key and removes the key
// when the last variant leaves.
//
// Costs bits / 2 + bits / 8 bytes. Not for concurrent use.
//
// Saved (FilterKind::counting): the shape; 8 bytes of entries; the counters, two per byte, the even
// position in the lower half. An unused last half is zero.
class CountingFilter {
 public:
  static boost::system::result<CountingFilter, ShapeError> create(const Shape& shape);

  // Reads what save() wrote. The bytes may come from anywhere. Allocates about as much as `file`
  // holds.
  static Loaded<CountingFilter> load(std::span<const std::uint8_t> file);
  std::vector<std::uint8_t> save() const;

  using Turned = std::vector<std::uint32_t>;

  // Returns true if the key was certainly absent before. If `turned` is given, add() and remove()
  // append to it the positions whose bit they changed.
  bool add(const Key& key, Turned* turned = nullptr);
  // Adds each key as add() does. For many keys it takes half the time.
  void add_all(std::span<const Key> keys);

  // Returns false, and changes nothing, if the key is certainly absent.
  bool remove(const Key& key, Turned* turned = nullptr);

  bool contains(const Key& key) const { return projection_.contains(key); }

  // Additions less the removals that took effect.
  std::uint64_t entries() const { return entries_; }
  std::uint64_t bits_set() const { return projection_.bits_set(); }
  const Shape& shape() const { return projection_.shape(); }

  // The Bloom filter that makes the same claims as this one: a bit is set where a counter is not 0.
  // The reference stays valid and follows later changes.
  const BloomFilter& projection() const { return projection_; }

  // A copy of the projection, which later changes do not affect.
  BloomFilter snapshot() const { return projection_; }

 private:
  explicit CountingFilter(BloomFilter empty);

  // Sets the projection's bits from the counters. Returns false if this number of entries cannot
  // have produced these counters.
  bool restore();
  // Changes the counters of the key by `step`, 1 or -1.
  void change(const Key& key, int step, Turned* turned);
  // Changes one counter. Returns whether the bit changed.
  bool change(std::uint64_t position, int step);

  BloomFilter projection_;
  std::vector<std::uint8_t> counters_;  // two per byte, the even position in the lower half
  std::uint64_t entries_ = 0;
};

}  // namespace digest
