// Rising numbers as Rice-coded gaps: the wire form of a set of bit positions.
//
// The first gap is the first number itself; each further gap is a number less its predecessor, less
// 1. With parameter r, a gap g is written as g >> r ones, a zero, and the r low bits of g, least
// significant first. Bits fill each byte from the least significant one up; unused bits of the last
// byte are zero. r is from 0 to 31 (Rice 1979; close to the optimum if the positions are as good as
// random).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace digest {

inline constexpr unsigned kMaxRice = 31;

// The parameter with the shortest code for these numbers; 0 if there are none.
unsigned rice_for(std::span<const std::uint32_t> rising);

// The length in bytes of the code for the numbers `rising` with the parameter `rice`.
std::size_t gap_bytes(std::span<const std::uint32_t> rising, unsigned rice);

// The expected length in bytes, with the best parameter, of the code of `numbers` numbers chosen at
// random below `limit`.
std::size_t expected_gap_bytes(std::uint64_t numbers, std::uint64_t limit);

void append_gaps(std::vector<std::uint8_t>& out, std::span<const std::uint32_t> rising,
                 unsigned rice);

// Decodes foreign bytes one number at a time, without allocating.
class GapReader {
 public:
  // `rice` is at most kMaxRice, `limit` at most 2^32. A number of `limit` or more is an error.
  GapReader(std::span<const std::uint8_t> bytes, unsigned rice, std::uint64_t limit)
      : bytes_(bytes), rice_(rice), limit_(limit) {}

  // Returns false if the bytes end too early or encode a number that is not below the limit.
  bool next(std::uint32_t& number);

  // Whether all bytes have been read: only zeros are left in the last one.
  bool at_end() const;

 private:
  // The next 57 bits; the first of them is the lowest bit of the result. Bits beyond the end of the
  // bytes are zeros.
  std::uint64_t ahead() const;

  std::span<const std::uint8_t> bytes_;
  unsigned rice_;
  std::uint64_t limit_;
  std::uint64_t bit_ = 0;    // the next bit to read
  std::uint64_t floor_ = 0;  // the least value of the next number
};

}  // namespace digest
