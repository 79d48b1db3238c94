// A Bloom filter that can forget: the live picture of what a cache holds.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <vector>

#include "digest/bloom_filter.hpp"
#include "digest/key.hpp"
#include "digest/shape.hpp"

namespace digest {

// Counts in 4 bits how many of the keys held stand on each position (a key whose positions coincide
// counts once there). A counter that reached 15 sticks: it may keep a bit set for too long, never
// clear one too early. So there are no false negatives, provided that each key is removed at most
// as often as it was added: removing a key that never came in, but that the filter would claim,
// takes bits from others. Costs bits / 2 + bits / 8 bytes. Not for concurrent use.
class CountingFilter {
 public:
  static boost::system::result<CountingFilter, ShapeError> create(const Shape& shape);

  // True if the key certainly was not in before.
  bool add(const Key& key);

  // False, and nothing changes, if the key certainly is not in.
  bool remove(const Key& key);

  void clear();

  bool contains(const Key& key) const { return projection_.contains(key); }

  // Additions less removals that took effect.
  std::uint64_t entries() const { return entries_; }
  std::uint64_t bits_set() const { return projection_.bits_set(); }
  const Shape& shape() const { return projection_.shape(); }

  // The filter that says the same as this one at every moment: a bit is set where a counter is not
  // 0. The reference follows later changes.
  const BloomFilter& projection() const { return projection_; }

  // A copy of it, which does not.
  BloomFilter snapshot() const { return projection_; }

 private:
  explicit CountingFilter(BloomFilter empty);

  void increment(std::uint64_t position);
  void decrement(std::uint64_t position);

  BloomFilter projection_;
  std::vector<std::uint8_t> counters_;  // two per byte, the even position in the lower half
  std::uint64_t entries_ = 0;
};

}  // namespace digest
