// A function from a fixed set of keys to small numbers, in 1.23 times the bits of the numbers.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "digest/file_format.hpp"
#include "digest/key.hpp"

namespace digest {

// A key and its number.
struct Valued {
  Key key;
  std::uint32_t value = 0;
};

// The bits that each key takes: those of its value, and those by which other keys are told apart.
// Together 1 to 32.
struct BloomierForm {
  unsigned value_bits = 8;
  unsigned check_bits = 0;

  unsigned bits() const { return value_bits + check_bits; }
  bool operator==(const BloomierForm&) const = default;
};

enum class BloomierError : std::uint8_t {
  bad_form,         // not 1 to 32 bits
  value_too_large,  // a value has more than value_bits
  too_many_keys,    // more than kMost
  equal_keys,       // two of the keys are equal
};

std::string_view to_string(BloomierError error);

// A Bloomier filter (Chazelle, Kilian, Rubinfeld, Tal 2004): find() of a key that it was made for
// is always right. A key has one slot in each of three segments; the exclusive or of the three
// slots is its value and its check bits. The slots are filled in the reverse of the order in which
// keys can be peeled off: each time one that is alone in a slot (Majewski, Wormald, Havas, Czech
// 1996). That succeeds with 1.23 slots for each key (Botelho, Pagh, Ziviani 2007); if it does not,
// the next seed is tried. Of any other key, find() claims one in 2^check_bits, with a random value.
// Without value bits this is the xor filter of Graf and Lemire 2020.
//
// Keys must be spread already, like those of key_of(). Immutable: any number of threads may read.
//
// Slots: three segments of keys * 41 / 100 + 11 slots, rounded down. h is seeded_hash() of the key,
// and g is mix(h + 0x9e3779b97f4a7c15) modulo 2^64 (positions.hpp). The slots within the segments
// are the upper halves of the 128-bit products of the segment's length and h, h rotated by
// 32 bits, and g. The check bits are the lowest of g. A slot holds value << check_bits | check.
// Saved (FilterKind::bloomier): 8 bytes of keys; 4 of the seed; 1 of value_bits; 1 of check_bits;
// 2 of 0; the slots. Bit n has value 1 << (n & 7) in byte n >> 3; unused bits are 0.
class BloomierFilter {
 public:
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 31;  // keys

  // Takes some 40 bytes of memory for each key while it works.
  static boost::system::result<BloomierFilter, BloomierError> create(
      std::span<const Valued> entries, BloomierForm form);

  // Reads what save() wrote. The bytes may come from anywhere. Allocates about as much as `file`
  // holds.
  static Loaded<BloomierFilter> load(std::span<const std::uint8_t> file);
  std::vector<std::uint8_t> save() const;

  // The value of a key that the filter was made for. Nothing: it was certainly not. Reads three
  // slots; neither allocates nor divides.
  std::optional<std::uint32_t> find(const Key& key) const;
  bool contains(const Key& key) const { return find(key).has_value(); }

  std::uint64_t keys() const { return keys_; }
  BloomierForm form() const { return form_; }
  std::uint64_t slots() const;
  std::uint64_t byte_count() const;  // of the slots
  // How often find() claims a key that the filter was not made for.
  double false_positive_rate() const;

  bool operator==(const BloomierFilter&) const = default;

 private:
  friend class BloomierPeeling;

  BloomierFilter(std::uint64_t keys, BloomierForm form, std::uint32_t seed);

  std::uint64_t slot(std::uint64_t number) const;
  void set_slot(std::uint64_t number, std::uint64_t content);

  std::uint64_t keys_;
  BloomierForm form_;
  std::uint32_t seed_;
  std::vector<std::uint8_t> bytes_;  // of the slots; 8 more, so that a slot is read at once
};

}  // namespace digest
