// A set summary: answers "certainly not here" or "perhaps here".
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "digest/bits.hpp"
#include "digest/file_format.hpp"
#include "digest/key.hpp"
#include "digest/positions.hpp"
#include "digest/shape.hpp"

namespace digest {

enum class AdditionsError : std::uint8_t {
  unknown,  // the bits came from elsewhere, by a union, an intersection or from_bytes
};

// Never forgets: after insert(key), contains(key) holds until clear() or an intersection. How often
// "perhaps" is wrong depends on the bits set, not on what the filter was sized for: see
// false_positive_rate(). Bit n is byte n >> 3, value 1 << (n & 7). Any number of threads may read
// one filter; a writer must be alone. A moved-from filter may only be assigned to or destroyed.
// (Bloom 1970; a shape that holds a given number of keys at a given rate: plan.hpp.)
//
// Saved (FilterKind::bloom): the shape; 8 bytes of additions + 1, or 0 where they are unknown;
// then the bits.
class BloomFilter {
 public:
  // An empty filter. The memory is bounded by kMaxBits.
  static boost::system::result<BloomFilter, ShapeError> create(const Shape& shape);

  // A copy of bits that came from elsewhere, refused unless they are exactly shape.byte_count()
  // bytes with nothing beyond the last bit.
  static boost::system::result<BloomFilter, ShapeError> from_bytes(
      const Shape& shape, std::span<const std::uint8_t> bytes);
  // The same, around these bytes themselves.
  static boost::system::result<BloomFilter, ShapeError> around(const Shape& shape,
                                                               std::vector<std::uint8_t> bytes);

  // What save() or to_text() made, from anywhere; text is base64 of the same bytes, and may be
  // broken into lines: ASCII blanks in it are skipped. Allocates no more than about twice what it
  // is given.
  static Loaded<BloomFilter> load(std::span<const std::uint8_t> file);
  static Loaded<BloomFilter> from_text(std::string_view text);
  std::vector<std::uint8_t> save() const;
  std::string to_text() const;

  // An empty filter of the same shape.
  BloomFilter empty_copy() const { return BloomFilter(shape()); }

  // True if the key certainly was not in before.
  bool insert(const Key& key);
  // How many of them certainly were not.
  std::uint64_t insert(std::span<const Key> keys);

  // No allocation and no division.
  bool contains(const Key& key) const {
    return positions_.all(key, [this](std::uint64_t position) { return test(position); });
  }

  void clear();

  // From now on all that either held, or what both held and perhaps more: a filter of the keys in
  // both alone would claim no more than this one. An error, and nothing changes, unless the shapes
  // are the same.
  boost::system::result<void, ShapeError> unite(const BloomFilter& other);
  boost::system::result<void, ShapeError> intersect(const BloomFilter& other);
  bool same_shape(const BloomFilter& other) const { return shape() == other.shape(); }

  const Shape& shape() const { return positions_.shape(); }
  std::span<const std::uint8_t> bytes() const { return bytes_; }

  // How often insert() was given a key, known or new.
  boost::system::result<std::uint64_t, AdditionsError> additions() const;

  // The four below follow from the bits set, which are counted as they change: they cost nothing to
  // ask and hold after a union too.
  std::uint64_t bits_set() const { return bits_set_; }
  double fill_ratio() const;
  double false_positive_rate() const { return observed_false_positive_rate(shape(), bits_set_); }
  double estimate() const { return estimated_keys(shape(), bits_set_); }

  // The same claims for every key; additions do not matter.
  bool operator==(const BloomFilter& other) const {
    return same_shape(other) && bytes_ == other.bytes_;
  }

 private:
  friend class CountingFilter;  // the only one that clears single bits

  explicit BloomFilter(const Shape& shape);
  BloomFilter(const Shape& shape, std::vector<std::uint8_t> bytes);

  bool test(std::uint64_t position) const {
    return (bytes_[position >> 3] >> (position & 7) & 1) != 0;
  }
  // Both expect the bit to be in the other state.
  void set(std::uint64_t position);
  void reset(std::uint64_t position);

  static std::uint8_t bit_of(std::uint64_t position) {
    return static_cast<std::uint8_t>(1U << (position & 7));
  }

  Positions positions_;
  std::uint64_t bits_set_ = 0;
  std::optional<std::uint64_t> additions_ = 0;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace digest
