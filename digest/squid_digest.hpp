// Squid's cache digest, byte for byte, in both directions: what an unmodified Squid serves and
// reads.
//
// The body is a control block of 128 bytes followed by the mask. All numbers are big-endian, signed
// two's complement:
//    0  2  version, 5               12  4  deletions, 0
//    2  2  oldest reader, 3         16  4  bytes of mask that follow
//    4  4  capacity in entries      20  1  bits per entry, 1 to 127
//    8  4  entries added            21  1  hashes, 4          22  106  reserved, 0
// The mask is a BloomFilter with Derivation::squid_words and 8 bits per byte of mask (Squid 5.7,
// unchanged since 2.x).
#pragma once

#include <boost/system/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "digest/bloom_filter.hpp"
#include "digest/key.hpp"

namespace digest {

inline constexpr std::size_t kSquidControlBytes = 128;
inline constexpr std::size_t kMaxSquidMaskBytes = std::size_t{64} << 20;
// Squid drops a digest as useless if more than this share of its bits is set.
inline constexpr unsigned kMaxSquidFillPercent = 65;

enum class SquidDigestError : std::uint8_t {
  too_short,  // no whole control block
  version_too_old,
  version_too_new,
  bad_capacity,        // 0 or negative
  bad_bits_per_entry,  // outside 1..127: a larger one turns negative inside Squid and aborts it
  bad_mask_size,       // 0 or negative, or more than 127 bits for each entry of the capacity
  mask_too_large,      // more than our limit, or than Squid can express
  bad_hash_count,      // not 4
  truncated,           // fewer bytes of mask than announced
  trailing_bytes,      // more bytes than announced
  too_full,            // over kMaxSquidFillPercent
  mask_mismatch,  // encode() only: the filter is not of the size that capacity and bits per entry
                  // ask for
};

std::string_view to_string(SquidDigestError error);

template <class T>
using SquidResult = boost::system::result<T, SquidDigestError>;

struct SquidDigest {
  std::uint32_t capacity;  // entries that the mask was sized for, as the sender says
  std::uint32_t count;     // entries added, including repeated ones, as the sender says
  std::uint8_t bits_per_entry;
  BloomFilter filter;

  // Returns an empty digest, valid on the wire. The capacity must not be 0.
  static SquidResult<SquidDigest> empty(std::uint32_t capacity, std::uint8_t bits_per_entry);

  void insert(const Key& key);

  // False for the digest of a Squid whose bits per entry were changed after it built the mask.
  // Squid refuses such a digest, although it is usable.
  bool mask_fits_capacity() const;

  bool operator==(const SquidDigest&) const = default;
};

// The size of the mask in bytes for this many entries: (capacity * bits_per_entry + 7) / 8. An
// error if Squid would refuse the digest or abort (capacity * bits_per_entry + 7 >= 2^31 - 1).
SquidResult<std::uint32_t> squid_mask_bytes(std::uint32_t capacity, std::uint8_t bits_per_entry);

// Every Squid and decode() accept the result; what they would refuse is an error here.
SquidResult<std::vector<std::uint8_t>> encode(const SquidDigest& digest);

// Reads the whole body of a response, which may come from anywhere. As in Squid, the mask's own
// size is the modulus: capacity and bits per entry need not match it. A Squid sizes the mask for
// all entries that its cache has room for, so a sound digest may be nearly empty. Allocates the
// size of the mask, all of which the body contains, and nothing before the mask has been judged.
SquidResult<SquidDigest> decode(std::span<const std::uint8_t> body,
                                std::size_t max_mask_bytes = kMaxSquidMaskBytes);

}  // namespace digest
