#include "digest/bloom_filter.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "digest/base64.hpp"

namespace digest {

BloomFilter::BloomFilter(const Shape& shape) : positions_(shape), bytes_(shape.byte_count()) {}

BloomFilter::BloomFilter(const Shape& shape, std::vector<std::uint8_t> bytes)
    : positions_(shape),
      bits_set_(count_bits(bytes)),
      additions_(std::nullopt),
      bytes_(std::move(bytes)) {}

boost::system::result<BloomFilter, ShapeError> BloomFilter::create(const Shape& shape) {
  const auto checked = check(shape);
  if (!checked) return checked.error();
  return BloomFilter(*checked);
}

boost::system::result<BloomFilter, ShapeError> BloomFilter::from_bytes(
    const Shape& shape, std::span<const std::uint8_t> bytes) {
  return around(shape, {bytes.begin(), bytes.end()});
}

boost::system::result<BloomFilter, ShapeError> BloomFilter::around(
    const Shape& shape, std::vector<std::uint8_t> bytes) {
  const auto checked = check(shape);
  if (!checked) return checked.error();
  if (bytes.size() != shape.byte_count()) return ShapeError::wrong_length;
  // A stray bit belongs to no key, but would count in each rate and estimate.
  if (has_stray_bits(shape, bytes)) return ShapeError::stray_bits;
  return BloomFilter(shape, std::move(bytes));
}

Loaded<BloomFilter> BloomFilter::load(std::span<const std::uint8_t> file) {
  auto reader = FileReader::open(file, FilterKind::bloom);
  if (!reader) return reader.error();
  const auto shape = reader->shape();
  if (!shape) return FileError::bad_shape;
  const std::uint64_t additions = reader->number();
  const auto bytes = reader->bytes(shape->byte_count());
  if (!reader->complete()) return FileError::wrong_length;
  auto filter = from_bytes(*shape, bytes);
  if (!filter) return FileError::bad_content;
  // A file says 0 for a union, whose additions nobody knows.
  if (additions != 0) filter->additions_ = additions - 1;
  return std::move(*filter);
}

std::vector<std::uint8_t> BloomFilter::save() const {
  FileWriter file(FilterKind::bloom, bytes_.size() + kShapeBytes + 8);
  file.shape(shape()).number(additions_ ? *additions_ + 1 : 0).bytes(bytes_);
  return std::move(file).finish();
}

Loaded<BloomFilter> BloomFilter::from_text(std::string_view text) {
  std::string digits(text);
  // Mail and terminals break long lines, and editors end them.
  std::erase_if(digits, [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); });
  const auto file = from_base64(digits);
  if (!file) return FileError::not_a_filter;
  return load(*file);
}

std::string BloomFilter::to_text() const {
  return to_base64(save());
}

bool BloomFilter::insert(const Key& key) {
  const std::uint64_t before = bits_set_;
  positions_.every(key, [this](std::uint64_t position) {
    if (!test(position)) flip(position);
    return true;
  });
  // A key that was known counts, too: the count says how much work went in, estimate() how many
  // keys.
  if (additions_) ++*additions_;
  return bits_set_ != before;
}

void BloomFilter::clear() {
  std::fill(bytes_.begin(), bytes_.end(), std::uint8_t{0});
  bits_set_ = 0;
  additions_ = 0;
}

template <class Combine>
boost::system::result<void, ShapeError> BloomFilter::combine(const BloomFilter& other,
                                                             Combine bits) {
  if (shape() != other.shape()) return ShapeError::unlike_shapes;
  std::transform(bytes_.begin(), bytes_.end(), other.bytes_.begin(), bytes_.begin(), bits);
  bits_set_ = count_bits(bytes_);
  // Keys in both filters were counted twice, and nobody knows how many there are.
  additions_.reset();
  return {};
}

boost::system::result<void, ShapeError> BloomFilter::unite(const BloomFilter& other) {
  return combine(other, std::bit_or<std::uint8_t>());
}

boost::system::result<void, ShapeError> BloomFilter::intersect(const BloomFilter& other) {
  return combine(other, std::bit_and<std::uint8_t>());
}

double BloomFilter::fill_ratio() const {
  return static_cast<double>(bits_set_) / static_cast<double>(shape().bits);
}

void BloomFilter::flip(std::uint64_t position) {
  test(position) ? --bits_set_ : ++bits_set_;
  bytes_[position >> 3] = static_cast<std::uint8_t>(bytes_[position >> 3] ^ 1U << (position & 7));
}

}  // namespace digest
