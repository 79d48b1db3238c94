// A set summary that can remove keys, merge and change its size without the keys.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "digest/file_format.hpp"
#include "digest/key.hpp"
#include "digest/little_endian.hpp"

namespace digest {

// The filter stores a fingerprint of each key: the upper quotient_bits + remainder_bits of the
// key's bytes 0 to 7, read little-endian. The quotient names a slot, and the remainder is stored
// there.
struct QuotientShape {
  std::uint32_t quotient_bits = 0;   // 1 to 32: 2^quotient_bits slots
  std::uint32_t remainder_bits = 0;  // 1 to 61

  std::uint32_t fingerprint_bits() const { return quotient_bits + remainder_bits; }
  std::uint64_t slots() const { return std::uint64_t{1} << quotient_bits; }
  // The number of entries at which it is full: 15/16 of the slots. One slot is always free.
  std::uint64_t capacity() const { return slots() - (slots() + 15) / 16; }

  bool operator==(const QuotientShape&) const = default;
};

bool is_possible(const QuotientShape& shape);

enum class QuotientError : std::uint8_t {
  bad_shape,            // bits out of range, a fingerprint over 64 bits, or over kMaxBits in all
  full,                 // there are capacity() entries: resize first
  unlike_fingerprints,  // a merge of filters with fingerprints of different lengths
};

template <class T>
using QuotientResult = boost::system::result<T, QuotientError>;

// Never forgets a key that was not removed. A key inserted twice has two entries, and so have two
// keys with one fingerprint. Each remove() removes one entry. Removing a key that was never
// inserted may remove another one with the same fingerprint, so callers must not. False positives:
// about entries / 2^fingerprint_bits. Costs remainder_bits + 3 bits per slot; slows down above
// three quarters full. Any number of threads may read one filter; a writer must be alone. (Bender,
// Farach-Colton, Johnson, Kraner, Kuszmaul, Medjedovic, Montes, Shetty, Spillane, Zadok: Don't
// Thrash, VLDB 2012, section 3: three bits per slot tell which quotient a remainder belongs to.)
//
// Saved (FilterKind::quotient), 8 bytes each: quotient_bits, remainder_bits, entries. Then a row of
// bits, beginning with the lowest of the first byte and padded with zeros to a whole byte: for each
// quotient from 0 up, a 1 per entry and then a 0; then the remainders in the same order, rising
// within a quotient.
class QuotientFilter {
 public:
  static QuotientResult<QuotientFilter> create(const QuotientShape& shape);
  // The smallest filter whose rate with `capacity` entries is at most this one.
  static QuotientResult<QuotientFilter> for_capacity(std::uint64_t capacity, double rate);

  // Reads what save() wrote. The bytes may come from anywhere. Allocates what the shape asks for:
  // less than 128 times the size of `file`, and at most what any filter may have.
  static Loaded<QuotientFilter> load(std::span<const std::uint8_t> file);
  std::vector<std::uint8_t> save() const;

  // Returns true if the key was certainly absent before. On an error nothing changes.
  QuotientResult<bool> insert(const Key& key);
  // Returns false, and changes nothing, if the key is certainly absent.
  bool remove(const Key& key);
  bool contains(const Key& key) const;

  // Returns the same entries in 2^quotient_bits slots. The fingerprints keep their length.
  QuotientResult<QuotientFilter> resized(std::uint32_t quotient_bits) const;
  // Returns a filter with the entries of both. It has the fewest slots that hold them, but no fewer
  // than the larger of the two filters.
  static QuotientResult<QuotientFilter> merge(const QuotientFilter& a, const QuotientFilter& b);

  std::uint64_t entries() const { return entries_; }
  const QuotientShape& shape() const { return shape_; }
  double false_positive_rate() const;

  // Returns all fingerprints, rising. They define the filter's content, whatever its size.
  std::vector<std::uint64_t> fingerprints() const;

 private:
  explicit QuotientFilter(const QuotientShape& shape);
  // `rising` holds at most shape.capacity() fingerprints, in rising order.
  static QuotientFilter build(const QuotientShape& shape, std::span<const std::uint64_t> rising);

  std::uint64_t fingerprint_of(const Key& key) const {
    return load64(key.bytes.data()) >> (64 - shape_.fingerprint_bits());
  }
  std::uint64_t remainder_mask() const { return ~std::uint64_t{0} >> (64 - shape_.remainder_bits); }

  std::uint64_t get(std::uint64_t slot) const;
  void put(std::uint64_t slot, std::uint64_t content);
  std::uint64_t next(std::uint64_t slot) const { return (slot + 1) & (shape_.slots() - 1); }
  std::uint64_t previous(std::uint64_t slot) const { return (slot - 1) & (shape_.slots() - 1); }

  std::uint64_t run_of(std::uint64_t quotient) const;
  void insert_among(std::uint64_t quotient, std::uint64_t entry);
  void shift_in(std::uint64_t slot, std::uint64_t content);
  void shift_out(std::uint64_t slot, std::uint64_t quotient);

  QuotientShape shape_;
  std::uint64_t entries_ = 0;
  std::vector<std::uint64_t> words_;  // slots of remainder_bits + 3, one after the other
};

}  // namespace digest
