// The bit positions of a key in a filter of a given shape.
#pragma once

#include <boost/endian/conversion.hpp>
#include <cstdint>

#include "digest/key.hpp"
#include "digest/little_endian.hpp"
#include "digest/shape.hpp"

namespace digest {

// Maps a hash to a number below `choices`: the upper half of their 128-bit product.
inline std::uint64_t scaled(std::uint64_t hash, std::uint64_t choices) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{hash} * choices) >> 64);
}

// The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
inline std::uint64_t mix(std::uint64_t word) {
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
  word = (word ^ word >> 27) * 0x94d049bb133111eb;
  return word ^ word >> 31;
}

// 64 bits of a key, as good as independent for each seed: mix(mix(a + seed * 0x9e3779b97f4a7c15) ^
// b), modulo 2^64, with a and b the key's halves as little-endian numbers.
inline std::uint64_t seeded_hash(const Key& key, std::uint64_t seed) {
  return mix(mix(load64(&key.bytes[0]) + seed * 0x9e3779b97f4a7c15) ^ load64(&key.bytes[8]));
}

// The big-endian 32-bit word of a key at this index.
inline std::uint32_t squid_word(const Key& key, std::size_t index) {
  return boost::endian::load_big_u32(key.bytes.data() + 4 * index);
}

// Computes positions one at a time, so that a lookup can stop at the first clear bit.
// Shape::derivation defines the positions; one key may have the same position twice.
class Positions {
 public:
  // The shape must have passed check().
  explicit Positions(const Shape& shape)
      : shape_(shape),
        reciprocal_(~std::uint64_t{0} / shape.bits + 1),
        choices_(shape.layout == Layout::plain ? shape.bits : shape.bits / shape.hashes),
        stride_(shape.layout == Layout::plain ? 0 : choices_) {}

  const Shape& shape() const { return shape_; }

  // The next functions are for code that computes positions in another way. With double hashing,
  // position i is i * stride() + scaled(hash, choices()); Squid's is scaled(reciprocal() * word,
  // choices()).
  std::uint64_t choices() const { return choices_; }
  std::uint64_t stride() const { return stride_; }
  std::uint64_t reciprocal() const { return reciprocal_; }

  // Calls visit(position) for each position in turn until it returns false. Returns true if it
  // never did.
  template <class Visit>
  bool every(const Key& key, Visit visit) const {
    switch (shape_.derivation) {
      case Derivation::squid_words:
        for (std::size_t i = 0; i < 4; ++i) {
          if (!visit(modulo_bits(squid_word(key, i)))) return false;
        }
        return true;
      case Derivation::salted:
        return every_double_hash(SipHash128(shape_.salt, key.bytes), visit);
      case Derivation::double_hashing:
        break;
    }
    return every_double_hash(Halves{key}, visit);
  }

  // Returns true if test(position) is true for every position. It tests several before it looks at
  // the results: if half of the bits are set, a branch on each would be mispredicted every other
  // time. Salted positions do wait for the first result, because computing the others costs more
  // than a misprediction.
  template <class Test>
  bool all(const Key& key, Test test) const {
    switch (shape_.derivation) {
      case Derivation::squid_words:
        return all_in_fours([&, i = std::size_t{0}]() mutable {
          return test(modulo_bits(squid_word(key, i++))) ? 1U : 0U;
        });
      case Derivation::salted:
        return every_double_hash(SipHash128(shape_.salt, key.bytes), test);
      case Derivation::double_hashing:
        break;
    }
    // Each position follows from the one before: a product for each takes a fifth longer.
    const std::uint64_t step = Halves{key}.high() | 1;
    return all_in_fours([&, hash = Halves{key}.low(), first = std::uint64_t{0}]() mutable {
      const bool is_set = test(first + scaled(hash, choices_));
      hash += step;
      first += stride_;
      return is_set ? 1U : 0U;
    });
  }

  bool operator==(const Positions&) const = default;

 private:
  struct Halves {
    const Key& key;

    std::uint64_t low() const { return load64(&key.bytes[0]); }
    std::uint64_t high() const { return load64(&key.bytes[8]); }
  };

  // Computes the second half of the hash only if the first position was not enough.
  template <class Hash, class Visit>
  bool every_double_hash(const Hash& halves, Visit& visit) const {
    std::uint64_t hash = halves.low();
    if (!visit(scaled(hash, choices_))) return false;
    const std::uint64_t step = halves.high() | 1;
    std::uint64_t first = 0;
    for (std::uint32_t i = 1; i < shape_.hashes; ++i) {
      hash += step;
      first += stride_;
      if (!visit(first + scaled(hash, choices_))) return false;
    }
    return true;
  }

  // Whether next() is 1 as often as there are hashes: four are tested at once.
  template <class Next>
  bool all_in_fours(Next next) const {
    std::uint32_t left = shape_.hashes;
    for (; left >= 4; left -= 4) {
      if ((next() & next() & next() & next()) == 0) return false;
    }
    for (; left > 0; --left) {
      if (next() == 0) return false;
    }
    return true;
  }

  // word % bits by two multiplications instead of a division (Lemire, Kaser, Kurz 2019). Exact, as
  // both are below 2^32.
  std::uint64_t modulo_bits(std::uint32_t word) const {
    return scaled(reciprocal_ * word, shape_.bits);
  }

  Shape shape_;
  std::uint64_t reciprocal_;
  std::uint64_t choices_;  // the number of bits that one hash chooses among
  std::uint64_t stride_;   // the distance from the bits of one hash to those of the next
};

}  // namespace digest
