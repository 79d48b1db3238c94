#include "digest/bloom_filter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace digest {
namespace {

std::uint64_t count_bits(std::span<const std::uint8_t> bytes) {
  std::uint64_t count = 0;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    count += static_cast<unsigned>(std::popcount(word));
  }
  for (const std::uint8_t byte : bytes) count += static_cast<unsigned>(std::popcount(byte));
  return count;
}

bool has_stray_bits(const Shape& shape, std::span<const std::uint8_t> bytes) {
  const auto used = static_cast<unsigned>(shape.bits & 7);
  return used != 0 && (bytes.back() >> used) != 0;
}

}  // namespace

BloomFilter::BloomFilter(const Shape& shape) : positions_(shape), bytes_(shape.byte_count()) {}

boost::system::result<BloomFilter, ShapeError> BloomFilter::create(const Shape& shape) {
  const auto checked = check(shape);
  if (!checked) return checked.error();
  return BloomFilter(*checked);
}

boost::system::result<BloomFilter, ShapeError> BloomFilter::from_bytes(
    const Shape& shape, std::span<const std::uint8_t> bytes) {
  const auto checked = check(shape);
  if (!checked) return checked.error();
  if (bytes.size() != shape.byte_count()) return ShapeError::wrong_length;
  if (has_stray_bits(shape, bytes)) return ShapeError::stray_bits;
  BloomFilter filter(shape);
  std::copy(bytes.begin(), bytes.end(), filter.bytes_.begin());
  filter.bits_set_ = count_bits(bytes);
  return filter;
}

bool BloomFilter::insert(const Key& key) {
  const std::uint64_t before = bits_set_;
  positions_.every(key, [this](std::uint64_t position) {
    if (!test(position)) set(position);
    return true;
  });
  return bits_set_ != before;
}

void BloomFilter::clear() {
  std::fill(bytes_.begin(), bytes_.end(), std::uint8_t{0});
  bits_set_ = 0;
}

double BloomFilter::fill_ratio() const {
  return static_cast<double>(bits_set_) / static_cast<double>(shape().bits);
}

double BloomFilter::false_positive_rate() const {
  return std::pow(fill_ratio(), shape().hashes);
}

double BloomFilter::estimate() const {
  const auto bits = static_cast<double>(shape().bits);
  const auto set_bits = static_cast<double>(std::min(bits_set_, shape().bits - 1));
  return std::log1p(-set_bits / bits) / (shape().hashes * std::log1p(-1 / bits));
}

void BloomFilter::set(std::uint64_t position) {
  bytes_[position >> 3] = static_cast<std::uint8_t>(bytes_[position >> 3] | bit_of(position));
  ++bits_set_;
}

void BloomFilter::reset(std::uint64_t position) {
  bytes_[position >> 3] = static_cast<std::uint8_t>(bytes_[position >> 3] & ~bit_of(position));
  --bits_set_;
}

}  // namespace digest
