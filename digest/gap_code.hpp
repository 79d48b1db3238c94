// Rising numbers as Rice coded gaps: how a set of bit positions goes over the wire.
//
// The first number itself, then each less its predecessor and less 1, is a gap. With parameter r a
// gap g is written as g >> r ones, a zero, and the r low bits of g, least significant first. Bits
// fill bytes from the least significant one up; those left over in the last byte are zero. r is
// from 0 to 31 (Rice 1979; near the optimum where the positions are as good as random).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace digest {

inline constexpr unsigned kMaxRice = 31;

// The parameter that makes these rising numbers shortest. For none of them 0.
unsigned rice_for(std::span<const std::uint32_t> rising);

// Bytes that they take with it.
std::size_t gap_bytes(std::span<const std::uint32_t> rising, unsigned rice);

// Bytes that so many numbers are expected to take with the best parameter if they are chosen under
// `limit` at random.
std::size_t expected_gap_bytes(std::uint64_t numbers, std::uint64_t limit);

void append_gaps(std::vector<std::uint8_t>& out, std::span<const std::uint32_t> rising,
                 unsigned rice);

// Reads numbers back from foreign bytes, one at a time, without allocating.
class GapReader {
 public:
  // `rice` is at most kMaxRice. Numbers from `limit` on, which is at most 2^32, are not given.
  GapReader(std::span<const std::uint8_t> bytes, unsigned rice, std::uint64_t limit)
      : bytes_(bytes), rice_(rice), limit_(limit) {}

  // False where the bytes end first, or say a number that is not under the limit.
  bool next(std::uint32_t& number);

  // Whether the bytes end here: nothing is left but zeros to the end of the last byte.
  bool at_end() const;

 private:
  // False if there are no more bits.
  bool read_bit(unsigned& bit);

  std::span<const std::uint8_t> bytes_;
  unsigned rice_;
  std::uint64_t limit_;
  std::uint64_t bit_ = 0;    // the next one to read
  std::uint64_t floor_ = 0;  // the least that the next number can be
};

}  // namespace digest
