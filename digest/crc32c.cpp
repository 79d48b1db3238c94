#include "digest/crc32c.hpp"

#include <array>

#ifdef __x86_64__
#include <nmmintrin.h>
#endif

#include "digest/little_endian.hpp"

namespace digest {
namespace {

constexpr std::uint32_t kReflectedPolynomial = 0x82f63b78;

using Table = std::array<std::uint32_t, 256>;

// Table t gives the effect of a byte on the checksum after t more bytes (Kounavis and Berry 2005,
// slicing by 8).
constexpr std::array<Table, 8> make_tables() {
  std::array<Table, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1) ^ ((value & 1) != 0 ? kReflectedPolynomial : 0);
    }
    tables[0][byte] = value;
  }
  for (std::size_t t = 1; t < tables.size(); ++t) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t value = tables[t - 1][byte];
      tables[t][byte] = (value >> 8) ^ tables[0][value & 0xff];
    }
  }
  return tables;
}

constexpr std::array<Table, 8> kTables = make_tables();

#ifdef __x86_64__
// The instruction takes three cycles, but one can start in each cycle. Three lanes of kLane bytes
// are therefore read side by side and then joined (Gopal et al., "Fast CRC Computation for iSCSI
// Polynomial", 2011).
constexpr std::size_t kLane = 1024;

using Matrix = std::array<std::uint32_t, 32>;  // over GF(2): what each bit of a register becomes

constexpr std::uint32_t times(const Matrix& matrix, std::uint32_t bits) {
  std::uint32_t result = 0;
  for (std::size_t i = 0; bits != 0; ++i, bits >>= 1) result ^= (bits & 1) != 0 ? matrix[i] : 0;
  return result;
}

// Table t gives the effect of kLane zero bytes on byte t of the register.
constexpr std::array<Table, 4> make_lane_tables() {
  Matrix zeros{kReflectedPolynomial};  // one zero bit
  for (std::size_t i = 1; i < 32; ++i) zeros[i] = std::uint32_t{1} << (i - 1);
  for (std::size_t bits = 1; bits < 8 * kLane; bits *= 2) {
    const Matrix half = zeros;
    for (auto& column : zeros) column = times(half, column);
  }
  std::array<Table, 4> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    for (std::size_t t = 0; t < 4; ++t) tables[t][byte] = times(zeros, byte << (8 * t));
  }
  return tables;
}

constexpr std::array<Table, 4> kLaneTables = make_lane_tables();

std::uint32_t over_a_lane(std::uint64_t crc) {
  return kLaneTables[0][crc & 0xff] ^ kLaneTables[1][(crc >> 8) & 0xff] ^
         kLaneTables[2][(crc >> 16) & 0xff] ^ kLaneTables[3][(crc >> 24) & 0xff];
}

// Before main() it is not used.
// A package for x86-64 may run on a processor without the instruction.
const bool kHasCrc32c = [] {
  __builtin_cpu_init();
  return __builtin_cpu_supports("sse4.2") != 0;
}();

__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::span<const std::uint8_t> bytes,
                                                               std::uint32_t before) {
  std::uint64_t crc = ~before;
  for (; bytes.size() >= 3 * kLane; bytes = bytes.subspan(3 * kLane)) {
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < kLane; i += 8) {
      crc = _mm_crc32_u64(crc, load64(&bytes[i]));
      second = _mm_crc32_u64(second, load64(&bytes[kLane + i]));
      third = _mm_crc32_u64(third, load64(&bytes[2 * kLane + i]));
    }
    crc = over_a_lane(over_a_lane(crc) ^ second) ^ third;
  }
  for (; bytes.size() >= 8; bytes = bytes.subspan(8))
    crc = _mm_crc32_u64(crc, load64(bytes.data()));
  auto last = static_cast<std::uint32_t>(crc);
  for (const std::uint8_t byte : bytes) last = _mm_crc32_u8(last, byte);
  return ~last;
}
#endif

}  // namespace

// The register is inverted before and after, or zeros in front would not count (RFC 3720 12.1).
std::uint32_t crc32c_portable(std::span<const std::uint8_t> bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    const std::uint64_t eight = load64(bytes.data()) ^ crc;
    crc = 0;
    for (unsigned i = 0; i < 8; ++i) crc ^= kTables[7 - i][(eight >> (8 * i)) & 0xff];
  }
  for (const std::uint8_t byte : bytes) crc = (crc >> 8) ^ kTables[0][(crc ^ byte) & 0xff];
  return ~crc;
}

std::uint32_t crc32c(std::span<const std::uint8_t> bytes, std::uint32_t before) {
#ifdef __x86_64__
  if (kHasCrc32c) return by_instruction(bytes, before);
#endif
  return crc32c_portable(bytes, before);
}

}  // namespace digest
