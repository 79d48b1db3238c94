#include "digest/counting_filter.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace digest {
namespace {

constexpr unsigned kStuck = 15;

// A key's positions, each once, so that adding and removing touch every counter by exactly one.
class DistinctPositions {
 public:
  DistinctPositions(const Positions& positions, const Key& key) {
    positions.every(key, [this](std::uint64_t position) {
      if (std::find(begin(), end(), position) == end()) held_[count_++] = position;
      return true;
    });
  }

  const std::uint64_t* begin() const { return held_.data(); }
  const std::uint64_t* end() const { return held_.data() + count_; }

 private:
  std::array<std::uint64_t, kMaxHashes> held_;
  std::size_t count_ = 0;
};

unsigned shift_of(std::uint64_t position) {
  return (position & 1) == 0 ? 0 : 4;
}

unsigned count_at(std::span<const std::uint8_t> counters, std::uint64_t position) {
  return (counters[position >> 1] >> shift_of(position)) & 15U;
}

}  // namespace

CountingFilter::CountingFilter(BloomFilter empty)
    : projection_(std::move(empty)),
      counters_(static_cast<std::size_t>((projection_.shape().bits + 1) / 2)) {}

boost::system::result<CountingFilter, ShapeError> CountingFilter::create(const Shape& shape) {
  auto projection = BloomFilter::create(shape);
  if (!projection) return projection.error();
  return CountingFilter(std::move(*projection));
}

bool CountingFilter::add(const Key& key) {
  const std::uint64_t before = bits_set();
  for (const auto position : DistinctPositions(projection_.positions_, key)) increment(position);
  ++entries_;
  return bits_set() != before;
}

bool CountingFilter::remove(const Key& key) {
  if (!contains(key) || entries_ == 0) return false;
  for (const auto position : DistinctPositions(projection_.positions_, key)) decrement(position);
  --entries_;
  return true;
}

void CountingFilter::clear() {
  projection_.clear();
  std::fill(counters_.begin(), counters_.end(), std::uint8_t{0});
  entries_ = 0;
}

void CountingFilter::increment(std::uint64_t position) {
  const unsigned count = count_at(counters_, position);
  if (count == kStuck) return;
  if (count == 0) projection_.set(position);
  auto& pair = counters_[position >> 1];
  pair = static_cast<std::uint8_t>(pair + (1U << shift_of(position)));
}

void CountingFilter::decrement(std::uint64_t position) {
  const unsigned count = count_at(counters_, position);
  if (count == kStuck) return;
  if (count == 1) projection_.reset(position);
  auto& pair = counters_[position >> 1];
  pair = static_cast<std::uint8_t>(pair - (1U << shift_of(position)));
}

}  // namespace digest
