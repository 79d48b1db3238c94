#include "digest/native_digest.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include "digest/gap_code.hpp"
#include "digest/little_endian.hpp"

namespace digest {
namespace {

constexpr std::array<std::uint8_t, 4> kMagic{'H', 'S', 'D', 'G'};
constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kBits = 0;
constexpr std::uint8_t kGaps = 1;

constexpr std::size_t kSaltAt = 16;
constexpr std::size_t kChecksumAt = 96;

using Bytes = std::span<const std::uint8_t>;

// The index takes part, or two words that change places would not be noticed.
std::uint64_t term(std::size_t index, std::uint64_t word) {
  std::uint64_t x = word + (index + 1) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// The word at this index, padded with zeros.
std::uint64_t word_of(Bytes bytes, std::size_t index) {
  // Nearly always: a filter has many words, of which one may be cut.
  if (8 * index + 8 <= bytes.size()) return load64(bytes.data() + 8 * index);
  std::array<std::uint8_t, 8> last{};
  std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(8 * index), bytes.end(), last.begin());
  return load64(last.data());
}

std::size_t words_in(Bytes bytes) {
  return (bytes.size() + 7) / 8;
}

void append_positions(std::vector<std::uint32_t>& positions, std::size_t index,
                      std::uint64_t word) {
  for (; word != 0; word &= word - 1) {
    positions.push_back(
        static_cast<std::uint32_t>(64 * index + static_cast<unsigned>(std::countr_zero(word))));
  }
}

void flip_bits(std::span<std::uint8_t> bits, std::uint32_t position) {
  bits[position >> 3] = static_cast<std::uint8_t>(bits[position >> 3] ^ (1U << (position & 7)));
}

// All that a header says.
struct Header {
  NativeHead head;
  std::uint8_t coding = kBits;
  std::uint8_t rice = 0;
  std::uint64_t base = 0;
  std::uint64_t positions = 0;
};

// Calls use(offset, number) for each number of 8 bytes, so that what is written and what is read
// cannot differ.
template <class AnyHeader, class Use>
void each_number(AnyHeader& header, Use use) {
  use(8, header.head.epoch);
  use(32, header.head.generation);
  use(40, header.base);
  use(48, header.head.shape.bits);
  use(56, header.head.capacity);
  use(64, header.head.entries);
  use(72, header.head.bits_set);
  use(80, header.positions);
  use(88, header.head.checksum);
}

std::vector<std::uint8_t> bytes_of(const Header& header) {
  const Shape& shape = header.head.shape;
  std::vector<std::uint8_t> bytes(kNativeHeaderBytes);
  std::copy(kMagic.begin(), kMagic.end(), bytes.begin());
  bytes[4] = kVersion;
  bytes[5] = header.coding;
  bytes[6] = static_cast<std::uint8_t>(shape.hashes);
  bytes[7] = header.rice;
  each_number(header, [&](std::size_t at, std::uint64_t number) { store64(&bytes[at], number); });
  std::copy(shape.salt.begin(), shape.salt.end(), bytes.begin() + kSaltAt);
  store64(&bytes[kChecksumAt], checksum_of(Bytes(bytes).first(kChecksumAt)));
  return bytes;
}

// What is checked here bounds all that is allocated later, so nothing has been allocated yet.
bool is_sound(const Header& header) {
  const NativeHead& head = header.head;
  if (!check(head.shape) || head.generation == 0 || header.base > head.generation) return false;
  if (head.bits_set > head.shape.bits) return false;
  if (header.coding == kGaps) {
    return header.rice <= kMaxRice && (header.base != 0 || header.positions == head.bits_set);
  }
  return header.coding == kBits && header.rice == 0 && header.base == 0 && header.positions == 0;
}

NativeResult<Header> read_header(Bytes message) {
  if (message.size() < kMagic.size() || !std::equal(kMagic.begin(), kMagic.end(), message.begin()))
    return NativeError::not_native;
  if (message.size() < kNativeHeaderBytes) return NativeError::truncated;
  // Before the checksum: a later version may keep it elsewhere.
  if (message[4] != kVersion) return NativeError::unknown_version;
  if (checksum_of(message.first(kChecksumAt)) != load64(&message[kChecksumAt])) {
    return NativeError::damaged_header;
  }
  Header header{.head = {}, .coding = message[5], .rice = message[7]};
  each_number(header,
              [&](std::size_t at, std::uint64_t& number) { number = load64(&message[at]); });
  Shape& shape = header.head.shape;
  shape.hashes = message[6];
  shape.derivation = Derivation::salted;
  std::copy_n(&message[kSaltAt], shape.salt.size(), shape.salt.begin());
  return is_sound(header) ? NativeResult<Header>(header) : NativeError::bad_header;
}

bool continues(const Header& header, const NativeDigest& base_digest) {
  return base_digest.epoch == header.head.epoch && base_digest.generation == header.base &&
         base_digest.filter.shape() == header.head.shape;
}

// What is wrong with a message, as far as its header and its length tell.
std::optional<NativeError> fault_of(const Header& header, std::size_t content,
                                    const NativeDigest* base_digest) {
  const Shape& shape = header.head.shape;
  const std::uint64_t bits_set = header.head.bits_set;
  if (observed_false_positive_rate(shape, bits_set) > kMaxNativeFalsePositives) {
    return NativeError::too_full;
  }
  // No writer sends more: it codes gaps only where they are shorter than the bits.
  if (content > shape.byte_count()) return NativeError::bad_content;
  if (header.coding == kBits) {
    if (content < shape.byte_count()) return NativeError::truncated;
  } else if (header.base != 0) {
    if (!base_digest || !continues(header, *base_digest)) return NativeError::other_base;
    // Each position is flipped once, so that no delta can have more.
    if (header.positions > bits_set + base_digest->filter.bits_set()) {
      return NativeError::checksum_mismatch;
    }
  }
  return std::nullopt;
}

// `header` and `content` have been checked by fault_of().
NativeResult<std::vector<std::uint8_t>> bits_after(const Header& header, Bytes content,
                                                   const NativeDigest* base_digest) {
  if (header.coding == kBits) return std::vector<std::uint8_t>(content.begin(), content.end());
  std::vector<std::uint8_t> bits(header.head.shape.byte_count());
  if (header.base != 0) {
    const Bytes before = base_digest->filter.bytes();
    std::copy(before.begin(), before.end(), bits.begin());
  }
  GapReader reader(content, header.rice, header.head.shape.bits);
  std::uint32_t position = 0;
  // A position twice would be flipped back, but the reader takes rising ones only.
  for (std::uint64_t left = header.positions; left > 0; --left) {
    if (!reader.next(position)) return NativeError::bad_content;
    flip_bits(bits, position);
  }
  if (!reader.at_end()) return NativeError::bad_content;
  return bits;
}

// Gaps are shorter up to a fill of about a third, but take much longer to decode if there are many.
bool goes_as_gaps(const NativeHead& head) {
  return 16 * head.bits_set < head.shape.bits;
}

}  // namespace

std::string_view to_string(NativeError error) {
  static constexpr std::array<std::string_view, 10> kTexts{
      "not a native digest",
      "written by a later version",
      "ends early",
      "the checksum of the header does not fit",
      "the header says what cannot be",
      "too large",
      "changes a generation that is not held",
      "the content is not what the header announces",
      "the checksum of the filter does not fit",
      "so full that it claims every fourth key"};
  return text_in(kTexts, error);
}

std::uint64_t checksum_of(Bytes bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < words_in(bytes); ++i) sum += term(i, word_of(bytes, i));
  return sum;
}

NativeHead head_of(const NativeDigest& digest) {
  return {.shape = digest.filter.shape(),
          .epoch = digest.epoch,
          .generation = digest.generation,
          .capacity = digest.capacity,
          .entries = digest.entries,
          .bits_set = digest.filter.bits_set(),
          .checksum = digest.checksum};
}

NativeResult<NativeHead> read_native_head(Bytes message) {
  const auto header = read_header(message);
  if (!header) return header.error();
  return header->head;
}

std::uint64_t flip_bits(std::span<std::uint8_t> bits, std::span<const std::uint32_t> flips,
                        std::uint64_t checksum) {
  for (auto flip = flips.begin(); flip != flips.end();) {
    // All flips of a word at once: its term is computed before and after them.
    const std::size_t index = *flip >> 6;
    checksum -= term(index, word_of(bits, index));
    for (; flip != flips.end() && *flip >> 6 == index; ++flip) flip_bits(bits, *flip);
    checksum += term(index, word_of(bits, index));
  }
  return checksum;
}

std::vector<std::uint32_t> flips_between(const BloomFilter& before, const BloomFilter& after) {
  std::vector<std::uint32_t> flips;
  for (std::size_t i = 0; i < words_in(after.bytes()); ++i) {
    append_positions(flips, i, word_of(before.bytes(), i) ^ word_of(after.bytes(), i));
  }
  return flips;
}

std::vector<std::uint8_t> encode_snapshot(const NativeHead& head, Bytes bits) {
  if (goes_as_gaps(head)) {
    std::vector<std::uint32_t> positions;
    for (std::size_t i = 0; i < words_in(bits); ++i) {
      append_positions(positions, i, word_of(bits, i));
    }
    return encode_delta(head, 0, positions);
  }
  auto message = bytes_of({.head = head});
  message.reserve(message.size() + bits.size());
  message.insert(message.end(), bits.begin(), bits.end());
  return message;
}

std::vector<std::uint8_t> encode_snapshot(const NativeDigest& digest) {
  return encode_snapshot(head_of(digest), digest.filter.bytes());
}

std::size_t snapshot_bytes(const NativeHead& head) {
  if (!goes_as_gaps(head)) return kNativeHeaderBytes + head.shape.byte_count();
  return kNativeHeaderBytes + expected_gap_bytes(head.bits_set, head.shape.bits);
}

std::vector<std::uint8_t> encode_delta(const NativeHead& head, std::uint64_t base,
                                       std::span<const std::uint32_t> flips) {
  const unsigned rice = rice_for(flips);
  auto message = bytes_of({.head = head,
                           .coding = kGaps,
                           .rice = static_cast<std::uint8_t>(rice),
                           .base = base,
                           .positions = flips.size()});
  message.reserve(message.size() + gap_bytes(flips, rice));
  append_gaps(message, flips, rice);
  return message;
}

NativeResult<NativeDigest> decode_native(Bytes message, const NativeDigest* base_digest,
                                         std::size_t max_filter_bytes) {
  const auto header = read_header(message);
  if (!header) return header.error();
  const NativeHead& head = header->head;
  // Before the content is looked at: a message may announce more than its reader has memory.
  if (head.shape.byte_count() > max_filter_bytes) return NativeError::too_large;
  const Bytes content = message.subspan(kNativeHeaderBytes);
  if (const auto fault = fault_of(*header, content.size(), base_digest)) return *fault;
  auto bits = bits_after(*header, content, base_digest);
  if (!bits) return bits.error();
  auto filter = BloomFilter::around(head.shape, std::move(*bits));
  if (!filter) return NativeError::bad_content;
  if (filter->bits_set() != head.bits_set || checksum_of(filter->bytes()) != head.checksum) {
    return NativeError::checksum_mismatch;
  }
  return NativeDigest{.epoch = head.epoch,
                      .generation = head.generation,
                      .capacity = head.capacity,
                      .entries = head.entries,
                      .checksum = head.checksum,
                      .filter = std::move(*filter)};
}

}  // namespace digest
