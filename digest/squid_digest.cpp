#include "digest/squid_digest.hpp"

#include <algorithm>
#include <boost/endian/conversion.hpp>
#include <limits>
#include <optional>
#include <utility>

namespace digest {
namespace {

namespace endian = boost::endian;

constexpr std::int16_t kSquidVersion = 5;
constexpr std::int16_t kOldestReader = 3;
constexpr std::uint8_t kHashes = 4;
constexpr std::uint8_t kMaxBitsPerEntry = 127;

namespace offset {
constexpr std::size_t version = 0;
constexpr std::size_t oldest_reader = 2;
constexpr std::size_t capacity = 4;
constexpr std::size_t count = 8;
constexpr std::size_t mask_size = 16;
constexpr std::size_t bits_per_entry = 20;
constexpr std::size_t hashes = 21;
}  // namespace offset

Shape shape_of_mask(std::size_t mask_bytes) {
  return {.bits = std::uint64_t{mask_bytes} * 8,
          .hashes = kHashes,
          .derivation = Derivation::squid_words};
}

bool too_full(std::uint64_t bits_set, std::size_t mask_bytes) {
  return bits_set * 100 > std::uint64_t{mask_bytes} * 8 * kMaxSquidFillPercent;
}

// Squid reads the byte as signed: a larger number turns negative, and an assertion ends it.
bool is_bits_per_entry(std::uint8_t bits) {
  return bits >= 1 && bits <= kMaxBitsPerEntry;
}

// Returns what is wrong with a complete control block, or nothing.
std::optional<SquidDigestError> fault_of(std::span<const std::uint8_t> block) {
  if (endian::load_big_s16(&block[offset::version]) < kOldestReader) {
    return SquidDigestError::version_too_old;
  }
  if (endian::load_big_s16(&block[offset::oldest_reader]) > kSquidVersion) {
    return SquidDigestError::version_too_new;
  }
  if (endian::load_big_s32(&block[offset::capacity]) <= 0) return SquidDigestError::bad_capacity;
  if (endian::load_big_s32(&block[offset::mask_size]) <= 0) return SquidDigestError::bad_mask_size;
  if (!is_bits_per_entry(block[offset::bits_per_entry])) {
    return SquidDigestError::bad_bits_per_entry;
  }
  if (block[offset::hashes] != kHashes) return SquidDigestError::bad_hash_count;
  return std::nullopt;
}

}  // namespace

std::string_view to_string(SquidDigestError error) {
  static constexpr std::array<std::string_view, 12> kTexts{
      "shorter than a control block",
      "version older than 3",
      "needs a reader newer than version 5",
      "capacity is not positive",
      "bits per entry outside 1 to 127",
      "mask size does not fit the capacity",
      "mask too large",
      "number of hashes is not 4",
      "body ends before the mask does",
      "body goes on after the mask",
      "more than 65 % of the bits are set",
      "mask does not fit capacity and bits per entry"};
  return text_in(kTexts, error);
}

SquidResult<std::uint32_t> squid_mask_bytes(std::uint32_t capacity, std::uint8_t bits_per_entry) {
  if (capacity == 0) return SquidDigestError::bad_capacity;
  if (!is_bits_per_entry(bits_per_entry)) return SquidDigestError::bad_bits_per_entry;
  const std::uint64_t rounded = std::uint64_t{capacity} * bits_per_entry + 7;
  // Squid computes this in signed numbers of 32 bits, and asserts that it has not overflowed.
  if (rounded >= std::numeric_limits<std::int32_t>::max()) return SquidDigestError::mask_too_large;
  return static_cast<std::uint32_t>(rounded / 8);
}

SquidResult<SquidDigest> SquidDigest::empty(std::uint32_t capacity, std::uint8_t bits_per_entry) {
  const auto mask_bytes = squid_mask_bytes(capacity, bits_per_entry);
  if (!mask_bytes) return mask_bytes.error();
  auto filter = BloomFilter::create(shape_of_mask(*mask_bytes));
  if (!filter) return SquidDigestError::mask_too_large;
  return SquidDigest{capacity, 0, bits_per_entry, std::move(*filter)};
}

void SquidDigest::insert(const Key& key) {
  filter.insert(key);
  ++count;
}

bool SquidDigest::mask_fits_capacity() const {
  const auto expected = squid_mask_bytes(capacity, bits_per_entry);
  return expected && *expected == filter.bytes().size();
}

SquidResult<std::vector<std::uint8_t>> encode(const SquidDigest& digest) {
  const auto mask_bytes = squid_mask_bytes(digest.capacity, digest.bits_per_entry);
  if (!mask_bytes) return mask_bytes.error();
  // No Squid would tell us why it ignores our digest, so nothing it refuses is sent.
  if (digest.filter.shape() != shape_of_mask(*mask_bytes)) return SquidDigestError::mask_mismatch;
  if (too_full(digest.filter.bits_set(), *mask_bytes)) return SquidDigestError::too_full;

  std::vector<std::uint8_t> body(kSquidControlBytes + *mask_bytes);
  endian::store_big_s16(&body[offset::version], kSquidVersion);
  endian::store_big_s16(&body[offset::oldest_reader], kOldestReader);
  endian::store_big_u32(&body[offset::capacity], digest.capacity);
  endian::store_big_u32(&body[offset::count], digest.count);
  endian::store_big_u32(&body[offset::mask_size], *mask_bytes);
  body[offset::bits_per_entry] = digest.bits_per_entry;
  body[offset::hashes] = kHashes;
  const auto mask = digest.filter.bytes();
  std::copy(mask.begin(), mask.end(), body.begin() + kSquidControlBytes);
  return body;
}

SquidResult<SquidDigest> decode(std::span<const std::uint8_t> body, std::size_t max_mask_bytes) {
  if (body.size() < kSquidControlBytes) return SquidDigestError::too_short;
  const auto block = body.first(kSquidControlBytes);
  const auto mask = body.subspan(kSquidControlBytes);
  if (const auto fault = fault_of(block)) return *fault;

  const auto announced = endian::load_big_u32(&block[offset::mask_size]);
  if (announced > max_mask_bytes) return SquidDigestError::mask_too_large;
  if (mask.size() < announced) return SquidDigestError::truncated;
  if (mask.size() > announced) return SquidDigestError::trailing_bytes;
  const auto capacity = endian::load_big_u32(&block[offset::capacity]);
  if (std::uint64_t{announced} * 8 > std::uint64_t{capacity} * kMaxBitsPerEntry + 7) {
    return SquidDigestError::bad_mask_size;
  }
  // Before the mask is copied: a full mask claims everything, and would only cost memory.
  if (too_full(count_bits(mask), mask.size())) return SquidDigestError::too_full;
  auto filter = BloomFilter::from_bytes(shape_of_mask(announced), mask);
  if (!filter) return SquidDigestError::mask_too_large;
  return SquidDigest{capacity, endian::load_big_u32(&block[offset::count]),
                     block[offset::bits_per_entry], std::move(*filter)};
}

}  // namespace digest
