// A set summary that learns: a key that it claimed wrongly is claimed no more.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "digest/file_format.hpp"
#include "digest/key.hpp"
#include "digest/positions.hpp"
#include "digest/sizing.hpp"

namespace digest {

// The adaptive cuckoo filter of Mitzenmacher, Pontarelli and Reviriego 2018, which has one cell for
// each bucket (Bender et al. 2018 have the same for quotient filters). A key has one cell in each
// of four tables. One of these cells holds a fingerprint of the key, and a selector, which chooses
// among eight fingerprints. correct() of a key that is no member moves the selector of each
// cell that claims it, so that the cell's own key remains and the other one is gone. The keys
// themselves lie beside the cells, for that and for moving keys; contains() does not read them.
//
// A corrected key stays away until its cell's selector has gone around: eight corrections later.
// remove() takes away the key itself, never another one.
//
// Costs 16 bits for each cell that contains() reads, and 128 for the key, of which 95 % can be
// filled. Not for concurrent use.
//
// Cells: those of a partitioned shape with double hashing and four hashes. Fingerprint s of a key:
// the lowest bits of seeded_hash(key, s + 1). A cell is 0 if it is empty; else 1 << 15, selector <<
// 12, and the fingerprint.
// Saved (FilterKind::adaptive): 8 bytes of cells; 8 of fingerprint bits; the cells, 2 bytes each,
// little-endian; the keys of the full cells, in order.
class AdaptiveFilter {
 public:
  static constexpr unsigned kMostFingerprintBits = 12;
  static constexpr double kLoad = 0.95;  // of the cells that can be filled

  // Returns an empty filter for so many keys.
  static Sized<AdaptiveFilter> create(std::uint64_t capacity, unsigned fingerprint_bits);

  // Reads what save() wrote. The bytes may come from anywhere. Allocates at most nine times
  // what `file` holds.
  static Loaded<AdaptiveFilter> load(std::span<const std::uint8_t> file);
  std::vector<std::uint8_t> save() const;

  enum class Added : std::uint8_t { yes, known, full };
  // `full`: the filter has no room for the key, and is as before.
  Added insert(const Key& key);
  // Returns false if the key is no member.
  bool remove(const Key& key);
  bool contains(const Key& key) const;

  // The caller knows that the key is no member, as far as it was claimed. Returns whether the key
  // was claimed and is claimed no more. A member stays.
  bool correct(const Key& key);

  std::uint64_t entries() const { return entries_; }
  std::uint64_t cells() const { return cells_.size(); }
  unsigned fingerprint_bits() const { return fingerprint_bits_; }
  // How often contains() claims a key that is no member and was never corrected: each of four cells
  // is full as often as the others, and agrees once in 2^fingerprint_bits.
  double false_positive_rate() const;

  bool operator==(const AdaptiveFilter& other) const {
    return fingerprint_bits_ == other.fingerprint_bits_ && cells_ == other.cells_ &&
           keys_ == other.keys_;
  }

 private:
  using Cell = std::uint16_t;

  AdaptiveFilter(std::uint64_t cells, unsigned fingerprint_bits);

  Cell cell_for(const Key& key, unsigned selector) const;
  bool claims(Cell cell, const Key& key) const;
  // Where the key itself lies; cells(): nowhere.
  std::uint64_t place_of(const Key& key) const;
  // Puts the key into one of its cells that is empty; false: none is.
  bool put(const Key& key, unsigned selector);
  bool is_possible(std::uint64_t at) const;

  Positions positions_;
  unsigned fingerprint_bits_;
  std::uint64_t entries_ = 0;
  std::vector<Cell> cells_;
  std::vector<Key> keys_;  // of the full cells; others: all 0
};

}  // namespace digest
