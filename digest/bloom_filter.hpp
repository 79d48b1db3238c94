// A set summary: answers "certainly not here" or "perhaps here".
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "digest/file_format.hpp"
#include "digest/key.hpp"
#include "digest/positions.hpp"
#include "digest/shape.hpp"

namespace digest {

// Never forgets: after insert(key), contains(key) is true until clear() or an intersection. How
// often "perhaps" is wrong depends on the bits set, not on what the filter was sized for: see
// false_positive_rate(). Bit n has value 1 << (n & 7) in byte n >> 3. Any number of threads may
// read one filter; a writer must be alone. A moved-from filter may only be assigned to or
// destroyed. (Bloom 1970. sizing.hpp computes a shape for a number of keys and a rate.)
//
// Saved (FilterKind::bloom): the shape; 8 bytes of additions + 1, or 0 if they are unknown; then
// the bits.
class BloomFilter {
 public:
  // Returns an empty filter. kMaxBits bounds its memory.
  static boost::system::result<BloomFilter, ShapeError> create(const Shape& shape);

  // Copies `bytes`. Fails unless there are exactly shape.byte_count() bytes and no bit is set
  // beyond the last one.
  static boost::system::result<BloomFilter, ShapeError> from_bytes(
      const Shape& shape, std::span<const std::uint8_t> bytes);
  // Makes a filter that takes the bytes over instead of copying them.
  static boost::system::result<BloomFilter, ShapeError> around(const Shape& shape,
                                                               std::vector<std::uint8_t> bytes);

  // Read what save() or to_text() wrote. The input may come from anywhere. The text is base64 of
  // the saved bytes and may be broken into lines: ASCII blanks are skipped. Both allocate at most
  // about twice the size of their input.
  static Loaded<BloomFilter> load(std::span<const std::uint8_t> file);
  static Loaded<BloomFilter> from_text(std::string_view text);
  std::vector<std::uint8_t> save() const;
  std::string to_text() const;

  // Returns true if the key was certainly absent before.
  bool insert(const Key& key);

  // Neither allocates nor divides.
  bool contains(const Key& key) const {
    return positions_.all(key, [this](std::uint64_t position) { return test(position); });
  }

  void clear();

  // After unite() this filter claims every key that either of the two claimed. After intersect() it
  // claims every key that both claimed; a filter built from only the keys in both sets would claim
  // no more than that. If the shapes differ, both return an error and change nothing.
  boost::system::result<void, ShapeError> unite(const BloomFilter& other);
  boost::system::result<void, ShapeError> intersect(const BloomFilter& other);

  const Shape& shape() const { return positions_.shape(); }
  std::span<const std::uint8_t> bytes() const { return bytes_; }

  // How often insert() was called with a key, whether known or new. Nothing for a filter that was
  // made by a union, an intersection or from_bytes().
  std::optional<std::uint64_t> additions() const { return additions_; }

  // The four below follow from the number of set bits, which is kept up to date. They cost nothing
  // to call and are right after a union too.
  std::uint64_t bits_set() const { return bits_set_; }
  double fill_ratio() const;
  double false_positive_rate() const { return observed_false_positive_rate(shape(), bits_set_); }
  double estimate() const { return estimated_keys(shape(), bits_set_); }

  // Two filters are equal if they have one shape and one set of bits; additions are not compared.
  bool operator==(const BloomFilter& other) const {
    return shape() == other.shape() && bytes_ == other.bytes_;
  }

 private:
  friend class CountingFilter;  // the only class that clears single bits

  explicit BloomFilter(const Shape& shape);
  BloomFilter(const Shape& shape, std::vector<std::uint8_t> bytes);

  bool test(std::uint64_t position) const {
    return (bytes_[position >> 3] >> (position & 7) & 1) != 0;
  }
  void flip(std::uint64_t position);
  template <class Combine>
  boost::system::result<void, ShapeError> combine(const BloomFilter& other, Combine bits);

  Positions positions_;
  std::uint64_t bits_set_ = 0;
  std::optional<std::uint64_t> additions_ = 0;
  std::vector<std::uint8_t> bytes_;
};

enum class StrictError : std::uint8_t {
  full,  // the key is new, and the filter has `capacity` keys
};

// A Bloom filter that refuses keys beyond the number it was sized for. Takes `capacity` keys that
// it does not claim yet and then refuses new ones, so the rate it was sized for is never exceeded.
// A key that it already claims is always accepted. Otherwise like BloomFilter.
class StrictFilter {
 public:
  // The filter must be empty.
  StrictFilter(BloomFilter empty, std::uint64_t capacity)
      : filter_(std::move(empty)), capacity_(capacity) {}

  // Returns true if the key was certainly absent before. On an error nothing changes.
  boost::system::result<bool, StrictError> insert(const Key& key) {
    if (inserted_ == capacity_ && !contains(key)) return StrictError::full;
    const bool fresh = filter_.insert(key);
    inserted_ += fresh ? 1 : 0;
    return fresh;
  }

  // Returns how many keys were new. Stops at the first key that is refused; the keys before it are
  // inserted.
  boost::system::result<std::uint64_t, StrictError> insert(std::span<const Key> keys) {
    const std::uint64_t before = inserted_;
    for (const Key& key : keys) {
      if (!insert(key)) return StrictError::full;
    }
    return inserted_ - before;
  }

  bool contains(const Key& key) const { return filter_.contains(key); }

  std::uint64_t inserted() const { return inserted_; }
  std::uint64_t capacity() const { return capacity_; }
  const BloomFilter& filter() const { return filter_; }

 private:
  BloomFilter filter_;
  std::uint64_t capacity_;
  std::uint64_t inserted_ = 0;
};

}  // namespace digest
