// CRC-32C, the checksum of saved filters and of what the cache keeps on disk.
#pragma once

#include <cstdint>
#include <span>

namespace digest {

// Castagnoli's polynomial, reflected, as in iSCSI (RFC 3720 section 12.1): any burst of up to 32
// wrong bits is found, other damage all but once in 2^32. No protection against intent. `before` is
// the checksum of what came earlier. By the processor's own instruction where it has one.
std::uint32_t crc32c(std::span<const std::uint8_t> bytes, std::uint32_t before = 0);

// The same in plain C++, some 1.5 bytes per nanosecond: for other processors, and for tests.
std::uint32_t crc32c_portable(std::span<const std::uint8_t> bytes, std::uint32_t before = 0);

}  // namespace digest
