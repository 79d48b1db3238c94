// The digest that Hearsay proxies exchange: a salted Bloom filter, sent as a whole or as changes.
//
// A digest lives in epochs. Within an epoch its salt and shape stay the same, and its generations
// are numbered from 1. A message turns one generation into a later one. Generation 0 of every epoch
// is the empty filter, so a snapshot is a message whose base is 0, and a delta has any other base.
// If the reader already holds the newest generation, base and result are the same and the message
// changes nothing.
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
// Coding 0: base is 0, and the content is the bits themselves in (m + 7) / 8 bytes. Position p has
// value 1 << (p & 7) in byte p >> 3. Bits beyond the last position are zero.
// Coding 1: the content is the positions to flip in the base, each once and rising, encoded as
// gap_code.hpp says, in no more bytes than coding 0 would take. m is from 1 to 2^32 - 8, k from 1
// to 32, base at most the generation.
//
// The header bounds the work of a reader before anything is decoded: at most m bits are set in the
// result; from base 0 there is one position for each of them; from another base there are at most
// as many positions as bits set before and after.
//
// A digest holds URLs by their keys (key.hpp). A key is 16 bytes: the MD5 of one byte of value 1,
// for GET, followed by the URL in the canonical form under which the proxy stores it. The positions
// follow from SipHash-2-4 with 128 bits of output (Aumasson and Bernstein 2012) of these 16 bytes,
// keyed with the 16 bytes of the salt: a is output bytes 0 to 7 as a little-endian number, b bytes
// 8 to 15 with the lowest bit set. Position i, for i from 0 to k - 1, is floor(((a + i * b) mod
// 2^64) * m / 2^64). The digest claims a URL if all of its positions are set. (Derivation::salted,
// Layout::plain in shape.hpp.)
//
// A response that only a rule of the writer's operator keeps reusable is in the digest under
// another key: under_rule() of rule.hpp makes it from the URL's key and the mark of the rule. A
// reader with such a rule for the URL looks up both keys; its question names the rule in the field
// Hearsay-Rule, and the writer answers as its rule says only if that is the rule by which it keeps
// the response. Other readers look up the URL's key alone, so that such claims mislead them no more
// often than any other bits: the format of the message is the same with and without rules.
//
// The checksum of some bytes, padded with zeros to whole words of 8, is the sum modulo 2^64 of
// mix(w[i] + (i + 1) * 0x9e3779b97f4a7c15) over the words w[0], w[1], ..., where mix(x) is
//   x ^= x >> 30; x *= 0xbf58476d1ce4e5b9; x ^= x >> 27; x *= 0x94d049bb133111eb; x ^= x >> 31
// (Steele, Lea, Flood 2014). As a sum it can be updated at the cost of the changed words, and a
// full check runs at some GB a second. It guards against faults, not against the sender.
//
// Over HTTP: GET /digest/native?epoch=E&since=G. E, in 16 hex digits, and G, in decimal, name the
// generation that the reader holds; a reader that holds none leaves the query out. A 200 carries
// one message of type application/vnd.hearsay.digest. The message is a delta from generation G if G
// is known and the delta is no longer than a snapshot; a bare header if G is the newest; otherwise,
// also if the query makes no sense, a snapshot. The entity tag is "E-G" of the result; with it in
// If-None-Match, 304 says that nothing is newer. A reader that sends that field may add &wait=MS: a
// 304 then comes only after so many milliseconds, or as many as the writer allows, and what is
// newer comes as soon as it exists. A writer that does not know `wait` ignores it. A message
// reveals the salt, so only neighbours get one. Any other client gets 403, and so does a request
// that arrived through a proxy.
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
// A digest with more false positives than this is useless. Ours have under 0.001 at 12 bits per
// entry, and under 0.17 at 4, the fewest that can be set.
inline constexpr double kMaxNativeFalsePositives = 0.25;

enum class NativeError : std::uint8_t {
  not_native,       // does not begin like a message of this format
  unknown_version,  // written by a later version of this program
  truncated,        // ends within the header or the content
  damaged_header,   // its checksum does not match
  bad_header,       // values that no writer produces
  too_large,        // more bytes of filter than the reader allows
  other_base,       // a delta to a generation that the reader does not hold
  bad_content,      // positions not rising, not below m or not as many as announced; or stray bits
  checksum_mismatch,  // the result differs from the writer's filter: ask for a snapshot
  too_full,           // over kMaxNativeFalsePositives, by the bits set in the header
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

// The facts about a generation in the header of its message.
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

// Reads the header of a message from anywhere. Whether the content keeps what it says,
// decode_native() finds out.
NativeResult<NativeHead> read_native_head(std::span<const std::uint8_t> message);

std::uint64_t checksum_of(std::span<const std::uint8_t> bytes);

// Flips these positions, which must rise, in the bits of a filter whose checksum is `checksum`.
// Returns the checksum of the result. Costs as much as the words that hold the positions.
std::uint64_t flip_bits(std::span<std::uint8_t> bits, std::span<const std::uint32_t> flips,
                        std::uint64_t checksum);

// The positions in which two filters of the same shape differ, rising.
std::vector<std::uint32_t> flips_between(const BloomFilter& before, const BloomFilter& after);

// Encodes the whole digest: as gaps if it is nearly empty, else as bits.
std::vector<std::uint8_t> encode_snapshot(const NativeHead& head,
                                          std::span<const std::uint8_t> bits);
std::vector<std::uint8_t> encode_snapshot(const NativeDigest& digest);

// About the length of the snapshot, computed without looking at the bits: exact for coding 0; for
// gaps an estimate that takes the set bits for random.
std::size_t snapshot_bytes(const NativeHead& head);

// Encodes what turns the earlier generation `base` into this one. `flips` are the positions in
// which the two differ, rising.
std::vector<std::uint8_t> encode_delta(const NativeHead& head, std::uint64_t base,
                                       std::span<const std::uint32_t> flips);

// Decodes the generation that `message`, from anywhere, describes. `base_digest` is the generation
// of this digest that the reader holds, or null; it is not changed. Allocates at most
// max_filter_bytes, and nothing unless the header and the length of the message allow the result.
NativeResult<NativeDigest> decode_native(std::span<const std::uint8_t> message,
                                         const NativeDigest* base_digest,
                                         std::size_t max_filter_bytes);

}  // namespace digest
