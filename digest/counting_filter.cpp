#include "digest/counting_filter.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

namespace digest {
namespace {

constexpr unsigned kStuck = 15;

// The positions of a key, each once, so that adding and removing change each counter by exactly
// one.
class DistinctPositions {
 public:
  DistinctPositions(const Positions& positions, const Key& key) {
    // Among at most 32 numbers a search is faster than any set.
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

std::size_t counter_bytes(const Shape& shape) {
  return static_cast<std::size_t>((shape.bits + 1) / 2);
}

}  // namespace

CountingFilter::CountingFilter(BloomFilter empty)
    : projection_(std::move(empty)), counters_(counter_bytes(projection_.shape())) {
  projection_.additions_.reset();
}

boost::system::result<CountingFilter, ShapeError> CountingFilter::create(const Shape& shape) {
  auto projection = BloomFilter::create(shape);
  if (!projection) return projection.error();
  return CountingFilter(std::move(*projection));
}

Loaded<CountingFilter> CountingFilter::load(std::span<const std::uint8_t> file) {
  auto reader = FileReader::open(file, FilterKind::counting);
  if (!reader) return reader.error();
  const auto shape = reader->shape();
  if (!shape) return FileError::bad_shape;
  const std::uint64_t entries = reader->number();
  const auto counters = reader->bytes(counter_bytes(*shape));
  if (!reader->complete()) return FileError::wrong_length;
  CountingFilter filter(*BloomFilter::create(*shape));
  std::copy(counters.begin(), counters.end(), filter.counters_.begin());
  filter.entries_ = entries;
  if (!filter.restore()) return FileError::bad_content;
  return filter;
}

std::vector<std::uint8_t> CountingFilter::save() const {
  FileWriter file(FilterKind::counting, counters_.size() + kShapeBytes + 8);
  file.shape(shape()).number(entries_).bytes(counters_);
  return std::move(file).finish();
}

// The file holds no bits: they follow from the counters, and could contradict them.
bool CountingFilter::restore() {
  std::uint64_t sum = 0;
  bool exact = true;  // no counter is stuck: each key counts on 1 to `hashes` of them
  for (std::uint64_t position = 0; position < 2 * counters_.size(); ++position) {
    const unsigned count = count_at(counters_, position);
    if (count == 0) continue;
    if (position >= shape().bits) return false;
    projection_.flip(position);
    sum += count;
    exact = exact && count != kStuck;
  }
  // A stuck counter has lost count, so the sum says nothing then.
  if (!exact) return true;
  return entries_ <= sum && sum <= std::min(entries_, sum) * shape().hashes;
}

bool CountingFilter::add(const Key& key, Turned* turned) {
  const std::uint64_t before = bits_set();
  change(key, 1, turned);
  ++entries_;
  return bits_set() != before;
}

// Groups the positions by regions of the filter that fit into a processor's nearest cache, and then
// increments one region after the other.
void CountingFilter::add_all(std::span<const Key> keys) {
  constexpr std::size_t kAtOnce = std::size_t{1} << 16;
  // 2^15 counters take 16 KiB, half of the nearest cache of common processors.
  constexpr int kRegionBits = 15;
  std::vector<std::uint32_t> positions;
  std::vector<std::uint32_t> grouped;
  std::vector<std::uint32_t> ends;
  while (!keys.empty()) {
    const auto next = keys.first(std::min(keys.size(), kAtOnce));
    keys = keys.subspan(next.size());
    positions.clear();
    ends.assign((shape().bits >> kRegionBits) + 2, 0);
    for (const Key& key : next) {
      for (const auto position : DistinctPositions(projection_.positions_, key)) {
        positions.push_back(static_cast<std::uint32_t>(position));
        ends[(position >> kRegionBits) + 1] += 1;
      }
    }
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    grouped.resize(positions.size());
    for (const auto position : positions) grouped[ends[position >> kRegionBits]++] = position;
    for (const auto position : grouped) change(position, 1);
    entries_ += next.size();
  }
}

bool CountingFilter::remove(const Key& key, Turned* turned) {
  // Half of a removal would be worse than none: it leaves counters that no key accounts for.
  if (!contains(key) || entries_ == 0) return false;
  change(key, -1, turned);
  --entries_;
  return true;
}

void CountingFilter::change(const Key& key, int step, Turned* turned) {
  for (const auto position : DistinctPositions(projection_.positions_, key)) {
    if (change(position, step) && turned) turned->push_back(static_cast<std::uint32_t>(position));
  }
}

bool CountingFilter::change(std::uint64_t position, int step) {
  const unsigned before = count_at(counters_, position);
  // Nobody knows how many keys have counted here. To go down from 15 could clear the bit of one of
  // them.
  if (before == kStuck) return false;
  const auto after = static_cast<unsigned>(static_cast<int>(before) + step);
  auto& pair = counters_[position >> 1];
  pair = static_cast<std::uint8_t>(pair ^ ((before ^ after) << shift_of(position)));
  const bool turns = before == 0 || after == 0;
  if (turns) projection_.flip(position);
  return turns;
}

}  // namespace digest
