// A set summary: answers "certainly not here" or "perhaps here".
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "digest/key.hpp"
#include "digest/positions.hpp"
#include "digest/shape.hpp"

namespace digest {

// Never forgets: after insert(key), contains(key) holds until clear(). How often "perhaps" is wrong
// depends on the bits set, not on what the filter was sized for: see false_positive_rate().
// Bit n is byte n >> 3, value 1 << (n & 7). Any number of threads may read one filter; a writer
// must be alone. A moved-from filter may only be assigned to or destroyed.
class BloomFilter {
 public:
  // An empty filter. The memory is bounded by kMaxBits.
  static boost::system::result<BloomFilter, ShapeError> create(const Shape& shape);

  // A copy of bits that came from elsewhere, refused unless they are exactly shape.byte_count()
  // bytes with nothing beyond the last bit.
  static boost::system::result<BloomFilter, ShapeError> from_bytes(
      const Shape& shape, std::span<const std::uint8_t> bytes);

  // True if the key certainly was not in before.
  bool insert(const Key& key);

  // No allocation, and one memory access per bit until the first that is not set.
  bool contains(const Key& key) const {
    return positions_.every(key, [this](std::uint64_t position) { return test(position); });
  }

  void clear();

  const Shape& shape() const { return positions_.shape(); }
  std::span<const std::uint8_t> bytes() const { return bytes_; }

  // The three below are kept as bits change and cost nothing to ask.
  std::uint64_t bits_set() const { return bits_set_; }
  double fill_ratio() const;
  // The chance that contains() says yes to a key never inserted: fill^hashes.
  double false_positive_rate() const;

  // How many distinct keys would set this many bits (Swamidass and Baldi 2007). A full filter has
  // no finite answer: it is given that of a filter with one bit clear, a lower bound.
  double estimate() const;

  bool operator==(const BloomFilter&) const = default;

 private:
  friend class CountingFilter;  // the only one that clears single bits

  explicit BloomFilter(const Shape& shape);

  bool test(std::uint64_t position) const {
    return (bytes_[position >> 3] & bit_of(position)) != 0;
  }
  // Both expect the bit to be in the other state.
  void set(std::uint64_t position);
  void reset(std::uint64_t position);

  static std::uint8_t bit_of(std::uint64_t position) {
    return static_cast<std::uint8_t>(1U << (position & 7));
  }

  Positions positions_;
  std::uint64_t bits_set_ = 0;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace digest
