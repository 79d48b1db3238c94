// The digest that Hearsays exchange: a salted Bloom filter as a whole, or what changed in it.
//
// A digest lives in epochs. Within an epoch its salt and shape stay, and generations follow each
// other from 1. A message makes one generation out of an earlier one, or out of generation 0, which
// in every epoch is the empty filter: so a delta and a snapshot differ in `base` alone. To who
// holds the newest, the base is that one, and nothing changes.
//
// All numbers are little-endian. A header of 104 bytes, then the content, nothing after it:
//    0  4  "HSDG"                     40  8  base, the generation that the content changes
//    4  1  version, 1                 48  8  bits of the filter, m
//    5  1  coding: 0 bits, 1 gaps     56  8  capacity: entries that it is sized for
//    6  1  hashes, k                  64  8  entries that it was made of
//    7  1  r of the gaps, 0 to 31     72  8  bits set in the result
//    8  8  epoch                      80  8  positions in the content; coding 0: 0
//   16 16  salt                       88  8  checksum of the result
//   32  8  generation of the result   96  8  checksum of bytes 0 to 95
// Coding 0: base is 0, and the content is the bits themselves in (m + 7) / 8 bytes, position p
// being the bit of value 1 << (p & 7) in byte p >> 3; bits beyond the last position are zero.
// Coding 1: the content is the positions to turn over in the base, each once and rising, as
// gap_code.hpp says. m is from 1 to 2^32 - 8, k from 1 to 32, base at most the generation.
//
// A digest holds URLs by their keys (key.hpp): 16 bytes, the MD5 of one byte of value 1, for GET,
// and the URL in the canonical form that the proxy stores it under. With the 16 bytes of the salt
// as its key, SipHash-2-4 with 128 bits of output (Aumasson and Bernstein 2012) is taken of those
// 16 bytes; a is its output bytes 0 to 7 as a little-endian number, b bytes 8 to 15 with the lowest
// bit set. Position i, for i from 0 to k - 1, is floor(((a + i * b) mod 2^64) * m / 2^64). A URL is
// claimed where all of its positions are set. (Derivation::salted, Layout::plain in shape.hpp.)
//
// The checksum of some bytes, filled up with zeros to whole words of 8, is the sum modulo 2^64 of
// mix(w[i] + (i + 1) * 0x9e3779b97f4a7c15) over its words w[0], w[1], ..., where mix(x) is
//   x ^= x >> 30; x *= 0xbf58476d1ce4e5b9; x ^= x >> 27; x *= 0x94d049bb133111eb; x ^= x >> 31
// (Steele, Lea, Flood 2014). Being a sum, it follows a change at the cost of the words changed, and
// the whole is checked at some GB a second. It guards against faults, not against the sender.
//
// Over HTTP: GET /digest/native?epoch=E&since=G, E in 16 hex digits and G in decimal being what the
// reader holds; who holds nothing asks without a query. 200 brings one message, of type
// application/vnd.hearsay.digest: from generation G on where that is known and no longer than a
// snapshot; to who holds the newest, the header alone; else, also where the query makes no sense, a
// snapshot, its base being 0. The entity tag is "E-G" of the result: with it in If-None-Match, 304
// says that there is nothing newer. Whoever gets a message learns the salt, so it is for neighbours
// only: to others the answer is 403, also if it came through a proxy.
#pragma once

#include <boost/system/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "digest/bloom_filter.hpp"

namespace digest {

inline constexpr std::size_t kNativeHeaderBytes = 104;
// A filter that claims more keys than this by mistake is of no use; ours are under 0.001 at 12 bits
// per entry, and under 0.17 at the 4 that are the fewest.
inline constexpr double kMaxNativeFalsePositives = 0.25;

enum class NativeError : std::uint8_t {
  not_native,         // does not begin as a message of this format
  unknown_version,    // written by a later program
  truncated,          // ends within the header or the content
  damaged_header,     // its checksum does not fit
  bad_header,         // values that no writer gives
  too_large,          // more bytes of filter than the reader allows
  other_base,         // changes a generation that the reader does not hold
  bad_content,        // not positions under m, rising, as many as announced; or stray bits
  checksum_mismatch,  // the result is not what the writer has: ask for all of it
  too_full,           // over kMaxNativeFalsePositives
};

std::string_view to_string(NativeError error);

template <class T>
using NativeResult = boost::system::result<T, NativeError>;

// One generation of a digest. The filter's shape is salted and plain.
struct NativeDigest {
  std::uint64_t epoch = 0;
  std::uint64_t generation = 0;  // from 1
  std::uint64_t capacity = 0;
  std::uint64_t entries = 0;
  std::uint64_t checksum = 0;  // checksum_of(filter.bytes())
  BloomFilter filter;

  bool operator==(const NativeDigest&) const = default;
};

// What a message says of a generation before it comes to the bits.
struct NativeHead {
  Shape shape;
  std::uint64_t epoch = 0;
  std::uint64_t generation = 0;
  std::uint64_t capacity = 0;
  std::uint64_t entries = 0;
  std::uint64_t bits_set = 0;
  std::uint64_t checksum = 0;
};

NativeHead head_of(const NativeDigest& digest);

std::uint64_t checksum_of(std::span<const std::uint8_t> bytes);

// Turns these positions (rising) over in the bits of a filter whose checksum is `checksum`, and
// gives that of the result; at the cost of the words that hold them.
std::uint64_t turn_over(std::span<std::uint8_t> bits, std::span<const std::uint32_t> flips,
                        std::uint64_t checksum);

// The positions in which two filters of one shape differ, rising.
std::vector<std::uint32_t> flips_between(const BloomFilter& before, const BloomFilter& after);

// The digest as a whole, gaps while it is nearly empty.
std::vector<std::uint8_t> encode_snapshot(const NativeHead& head,
                                          std::span<const std::uint8_t> bits);
std::vector<std::uint8_t> encode_snapshot(const NativeDigest& digest);

// About how long that is, without looking at the bits: exact for coding 0; as gaps, as if the bits
// set lay at random.
std::size_t snapshot_bytes(const NativeHead& head);

// What makes this generation out of the earlier one `base`, of which these positions (rising)
// differ.
std::vector<std::uint8_t> encode_delta(const NativeHead& head, std::uint64_t base,
                                       std::span<const std::uint32_t> flips);

// Makes the generation that a message from anywhere describes. `held` is what the reader has of
// this digest, or null; it is not changed. Allocates at most max_filter_bytes.
NativeResult<NativeDigest> decode_native(std::span<const std::uint8_t> message,
                                         const NativeDigest* held, std::size_t max_filter_bytes);

}  // namespace digest
