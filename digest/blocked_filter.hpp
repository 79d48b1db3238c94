// A Bloom filter that reads one cache line per lookup: for large local sets that are looked up
// often.
#pragma once

#include <array>
#include <boost/system/result.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "digest/file_format.hpp"
#include "digest/key.hpp"
#include "digest/little_endian.hpp"
#include "digest/processor.hpp"
#include "digest/sizing.hpp"

namespace digest {

// Never forgets: after insert(key), contains(key) is true. The first half of a key chooses a line
// of 64 bytes; the second half chooses one bit in each of the line's eight words, so there are
// always 8 hashes (Putze, Sanders, Singler 2007; one bit per word as in Lang, Neumann, Kemper,
// Boncz 2019, so that all eight are tested at once). The price is bits: 12 per key give 0.42 %
// false positives, where a Bloom filter has 0.31 %; a rate of 1e-4 takes about a fifth more bits.
// Any number of threads may read one filter; a writer must be alone.
//
// Line: the upper half of the 128-bit product of the key's bytes 0 to 7, little-endian, and the
// number of lines. Bit in word i: bits 6i to 6i + 5 of bytes 8 to 15, little-endian.
// Saved (FilterKind::blocked): 8 bytes of the number of lines; the lines, each word little-endian.
class BlockedFilter {
 public:
  // Returns an empty filter of 64 bytes per line. All lines together have at most kMaxBits bits.
  static Sized<BlockedFilter> create(std::uint64_t lines);
  // Returns the smallest filter that holds `capacity` distinct keys at this false-positive rate.
  static Sized<BlockedFilter> for_capacity(std::uint64_t capacity, double rate);

  // Reads what save() wrote. The bytes may come from anywhere. Allocates about as much as `file`
  // holds.
  static Loaded<BlockedFilter> load(std::span<const std::uint8_t> file);
  std::vector<std::uint8_t> save() const;

  // Returns true if the key was certainly absent before.
  bool insert(const Key& key);

  // Reads one cache line; neither allocates nor divides. The answer does not depend on
  // `instructions`, which the machine must support.
  bool contains(const Key& key, Instructions instructions = kBestInstructions) const {
    const Line& line = lines_[line_of(key)];
    const std::uint64_t choice = load64(key.bytes.data() + 8);
    if (instructions == Instructions::avx512) return holds_avx512(line, choice);
    if (instructions == Instructions::avx2) return holds_avx2(line, choice);
    return holds(line, choice);
  }

  std::uint64_t lines() const { return lines_.size(); }

  // The probability that contains() returns true for a key that was never inserted, computed from
  // the bits set. Reads the whole filter.
  double false_positive_rate() const;

  bool operator==(const BlockedFilter&) const = default;

 private:
  static constexpr unsigned kWords = 8;

  struct alignas(64) Line {
    std::array<std::uint64_t, kWords> words{};
    bool operator==(const Line&) const = default;
  };

  // Whether all bits that `choice` names are set.
  static bool holds(const Line& line, std::uint64_t choice);
  static bool holds_avx2(const Line& line, std::uint64_t choice);
  static bool holds_avx512(const Line& line, std::uint64_t choice);

  __extension__ using Wide = unsigned __int128;

  explicit BlockedFilter(std::uint64_t lines) : lines_(static_cast<std::size_t>(lines)) {}

  std::size_t line_of(const Key& key) const {
    return static_cast<std::size_t>((Wide{load64(key.bytes.data())} * lines_.size()) >> 64);
  }
  static std::uint64_t bit_of(std::uint64_t choice, unsigned word) {
    return std::uint64_t{1} << ((choice >> (6 * word)) & 63);
  }

  std::vector<Line> lines_;
};

// The predicted false-positive rate for this number of lines and of distinct keys: the rate of one
// line with j keys, (1 - (63/64)^j)^8, averaged over j, as keys fall on lines at random (Poisson;
// Putze et al., section 3).
Sized<double> blocked_rate(std::uint64_t lines, std::uint64_t entries);
// Returns the fewest lines of a blocked filter that keep the rate.
Sized<std::uint64_t> blocked_lines_for(std::uint64_t entries, double rate);

}  // namespace digest
