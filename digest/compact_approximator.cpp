#include "digest/compact_approximator.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "digest/little_endian.hpp"

namespace digest {

CompactApproximator::CompactApproximator(const Shape& shape)
    : positions_(shape), cells_(static_cast<std::size_t>(shape.bits)) {}

boost::system::result<CompactApproximator, ShapeError> CompactApproximator::create(
    const Shape& shape) {
  if (const auto possible = check(shape); !possible) return possible.error();
  return CompactApproximator(shape);
}

Loaded<CompactApproximator> CompactApproximator::load(std::span<const std::uint8_t> file) {
  auto reader = FileReader::open(file, FilterKind::bounds);
  if (!reader) return reader.error();
  const auto shape = reader->shape();
  if (!shape) return FileError::bad_shape;
  const auto cells = reader->bytes(shape->bits * sizeof(Value));
  if (!reader->complete()) return FileError::wrong_length;
  CompactApproximator read(*shape);
  for (std::size_t i = 0; i < read.cells_.size(); ++i) {
    read.cells_[i] = digest::load<Value>(&cells[i * sizeof(Value)]);
  }
  return read;
}

std::vector<std::uint8_t> CompactApproximator::save() const {
  FileWriter file(FilterKind::bounds, kShapeBytes + cells_.size() * sizeof(Value));
  file.shape(shape());
  std::array<std::uint8_t, sizeof(Value)> bytes{};
  for (const Value cell : cells_) {
    store(bytes.data(), cell);
    file.bytes(bytes);
  }
  return std::move(file).finish();
}

// A cell that another key has lifted higher stays as it is: the bound of both keys remains right.
void CompactApproximator::raise(const Key& key, Value value) {
  positions_.every(key, [this, value](std::uint64_t position) {
    cells_[position] = std::max(cells_[position], value);
    return true;
  });
}

CompactApproximator::Value CompactApproximator::bound(const Key& key) const {
  Value least = std::numeric_limits<Value>::max();
  positions_.every(key, [this, &least](std::uint64_t position) {
    least = std::min(least, cells_[position]);
    // No further cell can lower it.
    return least > 0;
  });
  return least;
}

boost::system::result<void, ShapeError> CompactApproximator::unite(
    const CompactApproximator& other) {
  if (shape() != other.shape()) return ShapeError::unlike_shapes;
  std::transform(cells_.begin(), cells_.end(), other.cells_.begin(), cells_.begin(),
                 [](Value one, Value two) { return std::max(one, two); });
  return {};
}

std::uint64_t CompactApproximator::cells_from(Value value) const {
  return static_cast<std::uint64_t>(
      std::count_if(cells_.begin(), cells_.end(), [value](Value cell) { return cell >= value; }));
}

double CompactApproximator::excess_rate(Value value) const {
  return observed_false_positive_rate(shape(), cells_from(value));
}

}  // namespace digest
