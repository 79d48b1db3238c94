// A Bloom filter that can forget: the live picture of what a cache holds.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "digest/bloom_filter.hpp"
#include "digest/key.hpp"
#include "digest/shape.hpp"

namespace digest {

// Counts in 4 bits how many of the keys held stand on each position (a key whose positions coincide
// counts once there; Fan, Cao, Almeida, Broder 2000). A counter that reached 15 sticks: it may keep
// a bit set for too long, never clear one too early; how seldom: overflow_bound() in sizing.hpp.
// There are no false negatives if a key is removed at most as often as it was added. Removing one
// that never came in, but that the filter would claim, takes bits from others, and the filter
// cannot tell. So it is for who knows exactly what is in, as a cache does: it adds a key when the
// first variant under it is stored and removes it when the last one leaves, whatever came and went
// between; then a second removal does not happen, and this filter never has to guess.
// Costs bits / 2 + bits / 8 bytes. Not for concurrent use.
//
// Saved (FilterKind::counting): the shape; 8 bytes of entries; the counters, two per byte, the even
// position in the lower half, a half beyond the last one being zero.
class CountingFilter {
 public:
  static boost::system::result<CountingFilter, ShapeError> create(const Shape& shape);

  // What save() made, from anywhere. Allocates about what it is given.
  static Loaded<CountingFilter> load(std::span<const std::uint8_t> file);
  std::vector<std::uint8_t> save() const;

  using Turned = std::vector<std::uint32_t>;

  // True if the key certainly was not in before. The positions whose bit this turned over are
  // appended to `turned`, if there is one; so with remove().
  bool add(const Key& key, Turned* turned = nullptr);

  // False, and nothing changes, if the key certainly is not in.
  bool remove(const Key& key, Turned* turned = nullptr);

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

  // Sets the projection's bits from the counters. False if they cannot be those of so many entries.
  bool restore();
  // True if the bit turned over.
  bool increment(std::uint64_t position);
  bool decrement(std::uint64_t position);

  BloomFilter projection_;
  std::vector<std::uint8_t> counters_;  // two per byte, the even position in the lower half
  std::uint64_t entries_ = 0;
};

}  // namespace digest
