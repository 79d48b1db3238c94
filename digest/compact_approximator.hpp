// A Bloom filter of numbers: bounds the number of each key from above.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "digest/file_format.hpp"
#include "digest/key.hpp"
#include "digest/positions.hpp"
#include "digest/shape.hpp"

namespace digest {

// Approximates a function from keys to numbers, 0 where nothing was said (Boldi and Vigna 2004: a
// compact approximator, here over the lattice of numbers with the maximum). A key has `hashes`
// cells, as it has bits in a Bloom filter. raise() lifts each of them to at least the value;
// bound() is the least of them. So bound() is never below the greatest value of the key. It is
// above that as often as a Bloom filter of only the keys with greater values would claim the key.
// A Bloom filter is the case in which all values are 1.
//
// Costs 16 bits for each position. Any number of threads may read one approximator; a writer must
// be alone.
//
// Saved (FilterKind::bounds): the shape; the cells, 2 bytes each, little-endian.
class CompactApproximator {
 public:
  using Value = std::uint16_t;

  // Returns an approximator of shape.bits cells, all 0.
  static boost::system::result<CompactApproximator, ShapeError> create(const Shape& shape);

  // Reads what save() wrote. The bytes may come from anywhere. Allocates about as much as `file`
  // holds.
  static Loaded<CompactApproximator> load(std::span<const std::uint8_t> file);
  std::vector<std::uint8_t> save() const;

  void raise(const Key& key, Value value);
  Value bound(const Key& key) const;
  bool contains(const Key& key) const { return bound(key) > 0; }

  // After unite() each bound is at least that of either. If the shapes differ, returns an error and
  // changes nothing.
  boost::system::result<void, ShapeError> unite(const CompactApproximator& other);

  const Shape& shape() const { return positions_.shape(); }
  // The cells that are at least `value`. Reads all of them.
  std::uint64_t cells_from(Value value) const;
  // How often bound() of a key that was never raised is at least `value`. Reads all cells.
  double excess_rate(Value value = 1) const;

  bool operator==(const CompactApproximator& other) const {
    return shape() == other.shape() && cells_ == other.cells_;
  }

 private:
  explicit CompactApproximator(const Shape& shape);

  Positions positions_;
  std::vector<Value> cells_;
};

}  // namespace digest
