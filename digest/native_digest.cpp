#include "digest/native_digest.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include "digest/bits.hpp"
#include "digest/gap_code.hpp"
#include "digest/little_endian.hpp"

namespace digest {
namespace {

constexpr std::array<std::uint8_t, 4> kMagic{'H', 'S', 'D', 'G'};
constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kBits = 0;
constexpr std::uint8_t kGaps = 1;

namespace offset {
constexpr std::size_t version = 4;
constexpr std::size_t coding = 5;
constexpr std::size_t hashes = 6;
constexpr std::size_t rice = 7;
constexpr std::size_t epoch = 8;
constexpr std::size_t salt = 16;
constexpr std::size_t generation = 32;
constexpr std::size_t base = 40;
constexpr std::size_t bits = 48;
constexpr std::size_t capacity = 56;
constexpr std::size_t entries = 64;
constexpr std::size_t bits_set = 72;
constexpr std::size_t positions = 80;
constexpr std::size_t checksum = 88;
constexpr std::size_t header_checksum = 96;
}  // namespace offset

using Bytes = std::span<const std::uint8_t>;

std::uint64_t term(std::size_t index, std::uint64_t word) {
  std::uint64_t x = word + (index + 1) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// The word at this index, padded with zeros.
std::uint64_t word_of(Bytes bytes, std::size_t index) {
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

void turn_over(std::span<std::uint8_t> bits, std::uint32_t position) {
  bits[position >> 3] = static_cast<std::uint8_t>(bits[position >> 3] ^ (1U << (position & 7)));
}

struct Coding {
  std::uint8_t kind;
  std::uint8_t rice;
  std::uint64_t base;
  std::uint64_t positions;
};

std::vector<std::uint8_t> header_of(const NativeHead& head, const Coding& coding) {
  const Shape& shape = head.shape;
  std::vector<std::uint8_t> header(kNativeHeaderBytes);
  std::copy(kMagic.begin(), kMagic.end(), header.begin());
  header[offset::version] = kVersion;
  header[offset::coding] = coding.kind;
  header[offset::hashes] = static_cast<std::uint8_t>(shape.hashes);
  header[offset::rice] = coding.rice;
  std::copy(shape.salt.begin(), shape.salt.end(), header.begin() + offset::salt);
  for (const auto& [at, value] : {std::pair{offset::epoch, head.epoch},
                                  {offset::generation, head.generation},
                                  {offset::base, coding.base},
                                  {offset::bits, shape.bits},
                                  {offset::capacity, head.capacity},
                                  {offset::entries, head.entries},
                                  {offset::bits_set, head.bits_set},
                                  {offset::positions, coding.positions},
                                  {offset::checksum, head.checksum}}) {
    store64(header.data() + at, value);
  }
  const auto check = checksum_of(Bytes(header).first(offset::header_checksum));
  store64(header.data() + offset::header_checksum, check);
  return header;
}

// A header that has been checked.
struct Header {
  explicit Header(Bytes bytes) : bytes_(bytes) {}

  std::uint64_t number(std::size_t at) const { return load64(bytes_.data() + at); }
  std::uint8_t byte(std::size_t at) const { return bytes_[at]; }
  Shape shape() const {
    Shape shape{.bits = number(offset::bits),
                .hashes = byte(offset::hashes),
                .derivation = Derivation::salted};
    std::copy_n(bytes_.begin() + offset::salt, shape.salt.size(), shape.salt.begin());
    return shape;
  }

 private:
  Bytes bytes_;
};

bool is_sound(const Header& header) {
  const std::uint64_t base = header.number(offset::base);
  const std::uint64_t generation = header.number(offset::generation);
  if (!check(header.shape()) || generation == 0 || base > generation) return false;
  const std::uint64_t bits_set = header.number(offset::bits_set);
  if (bits_set > header.number(offset::bits)) return false;
  if (header.byte(offset::coding) == kGaps) {
    return header.byte(offset::rice) <= kMaxRice &&
           (base != 0 || header.number(offset::positions) == bits_set);
  }
  return header.byte(offset::coding) == kBits && header.byte(offset::rice) == 0 && base == 0 &&
         header.number(offset::positions) == 0;
}

NativeResult<Header> read_header(Bytes message) {
  if (message.size() < kMagic.size() || !std::equal(kMagic.begin(), kMagic.end(), message.begin()))
    return NativeError::not_native;
  if (message.size() < kNativeHeaderBytes) return NativeError::truncated;
  if (message[offset::version] != kVersion) return NativeError::unknown_version;
  const Header header(message.first(kNativeHeaderBytes));
  if (checksum_of(message.first(offset::header_checksum)) !=
      header.number(offset::header_checksum)) {
    return NativeError::damaged_header;
  }
  if (!is_sound(header)) return NativeError::bad_header;
  return header;
}

bool continues(const Header& header, const NativeDigest& base_digest) {
  return base_digest.epoch == header.number(offset::epoch) &&
         base_digest.generation == header.number(offset::base) &&
         base_digest.filter.shape() == header.shape();
}

// What is wrong with a message, as far as its header and its length tell.
std::optional<NativeError> fault_of(const Header& header, std::size_t content,
                                    const NativeDigest* base_digest) {
  const Shape shape = header.shape();
  const std::uint64_t bits_set = header.number(offset::bits_set);
  if (observed_false_positive_rate(shape, bits_set) > kMaxNativeFalsePositives) {
    return NativeError::too_full;
  }
  if (content > shape.byte_count()) return NativeError::bad_content;
  if (header.byte(offset::coding) == kBits) {
    if (content < shape.byte_count()) return NativeError::truncated;
  } else if (header.number(offset::base) != 0) {
    if (!base_digest || !continues(header, *base_digest)) return NativeError::other_base;
    const std::uint64_t most = bits_set + base_digest->filter.bits_set();
    if (header.number(offset::positions) > most) return NativeError::checksum_mismatch;
  }
  return std::nullopt;
}

// `header` and `content` have been checked by fault_of().
NativeResult<std::vector<std::uint8_t>> bits_after(const Header& header, Bytes content,
                                                   const NativeDigest* base_digest) {
  const Shape shape = header.shape();
  if (header.byte(offset::coding) == kBits) {
    return std::vector<std::uint8_t>(content.begin(), content.end());
  }
  std::vector<std::uint8_t> bits;
  if (header.number(offset::base) == 0) {
    bits.resize(shape.byte_count());
  } else {
    bits.assign(base_digest->filter.bytes().begin(), base_digest->filter.bytes().end());
  }
  GapReader reader(content, header.byte(offset::rice), shape.bits);
  std::uint32_t position = 0;
  for (std::uint64_t left = header.number(offset::positions); left > 0; --left) {
    if (!reader.next(position)) return NativeError::bad_content;
    turn_over(bits, position);
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
  switch (error) {
    case NativeError::not_native:
      return "not a native digest";
    case NativeError::unknown_version:
      return "written by a later version";
    case NativeError::truncated:
      return "ends early";
    case NativeError::damaged_header:
      return "the checksum of the header does not fit";
    case NativeError::bad_header:
      return "the header says what cannot be";
    case NativeError::too_large:
      return "too large";
    case NativeError::other_base:
      return "changes a generation that is not held";
    case NativeError::bad_content:
      return "the content is not what the header announces";
    case NativeError::checksum_mismatch:
      return "the checksum of the filter does not fit";
    case NativeError::too_full:
      return "so full that it claims every fourth key";
  }
  return "unknown error";
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
  return NativeHead{.shape = header->shape(),
                    .epoch = header->number(offset::epoch),
                    .generation = header->number(offset::generation),
                    .capacity = header->number(offset::capacity),
                    .entries = header->number(offset::entries),
                    .bits_set = header->number(offset::bits_set),
                    .checksum = header->number(offset::checksum)};
}

std::uint64_t turn_over(std::span<std::uint8_t> bits, std::span<const std::uint32_t> flips,
                        std::uint64_t checksum) {
  for (auto flip = flips.begin(); flip != flips.end();) {
    const std::size_t index = *flip >> 6;
    checksum -= term(index, word_of(bits, index));
    for (; flip != flips.end() && *flip >> 6 == index; ++flip) turn_over(bits, *flip);
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
  auto message = header_of(head, {.kind = kBits, .rice = 0, .base = 0, .positions = 0});
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
  auto message = header_of(head, {.kind = kGaps,
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
  if (header->shape().byte_count() > max_filter_bytes) return NativeError::too_large;
  const Bytes content = message.subspan(kNativeHeaderBytes);
  if (const auto fault = fault_of(*header, content.size(), base_digest)) return *fault;
  auto bits = bits_after(*header, content, base_digest);
  if (!bits) return bits.error();
  auto filter = BloomFilter::around(header->shape(), std::move(*bits));
  if (!filter) return NativeError::bad_content;
  if (filter->bits_set() != header->number(offset::bits_set) ||
      checksum_of(filter->bytes()) != header->number(offset::checksum)) {
    return NativeError::checksum_mismatch;
  }
  return NativeDigest{.epoch = header->number(offset::epoch),
                      .generation = header->number(offset::generation),
                      .capacity = header->number(offset::capacity),
                      .entries = header->number(offset::entries),
                      .checksum = header->number(offset::checksum),
                      .filter = std::move(*filter)};
}

}  // namespace digest
