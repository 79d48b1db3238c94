#include "digest/scalable_filter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "digest/sizing.hpp"

namespace digest {
namespace {

std::optional<SizingError> refuse(const ScalablePlan& plan) {
  if (plan.capacity == 0) return SizingError::no_entries;
  if (plan.capacity > kMaxBits) return SizingError::too_large;
  if (!(plan.rate > 0 && plan.rate < 1)) return SizingError::rate_out_of_range;
  if (!(plan.tightening > 0 && plan.tightening < 1)) return SizingError::rate_out_of_range;
  if (plan.growth != Growth::twofold && plan.growth != Growth::fourfold) {
    return SizingError::too_large;
  }
  return std::nullopt;
}

}  // namespace

Sized<ScalableFilter> ScalableFilter::create(const ScalablePlan& plan) {
  if (const auto error = refuse(plan)) return *error;
  ScalableFilter filter(plan);
  if (const auto grown = filter.grow(); !grown) return grown.error();
  return filter;
}

Loaded<ScalableFilter> ScalableFilter::load(std::span<const std::uint8_t> file) {
  auto reader = FileReader::open(file, FilterKind::scalable);
  if (!reader) return reader.error();
  ScalablePlan plan;
  plan.capacity = reader->number();
  plan.rate = std::bit_cast<double>(reader->number());
  plan.tightening = std::bit_cast<double>(reader->number());
  const std::uint64_t growth = reader->number();
  if (growth > 4) return FileError::bad_shape;
  plan.growth = static_cast<Growth>(growth);
  const std::uint64_t stages = reader->number();
  if (refuse(plan)) return FileError::bad_shape;
  ScalableFilter filter(plan);
  for (std::uint64_t i = 0; i < stages; ++i) {
    if (!read_stage(*reader, filter)) return FileError::bad_content;
  }
  if (!reader->complete()) return FileError::wrong_length;
  return stages == 0 ? Loaded<ScalableFilter>(FileError::bad_content) : std::move(filter);
}

// Every stage takes bytes of the file, whatever it claims, so the file's size bounds their number.
bool ScalableFilter::read_stage(FileReader& reader, ScalableFilter& into) {
  const std::uint64_t inserted = reader.number();
  const auto shape = reader.shape();
  const auto capacity = into.next_capacity();
  if (!shape || !capacity || inserted > *capacity) return false;
  // insert() begins a stage only when the one before is full, so no other file was written by
  // save().
  if (!into.stages_.empty() && into.stages_.back().inserted != into.stages_.back().capacity)
    return false;
  auto filter = BloomFilter::from_bytes(*shape, reader.bytes(shape->byte_count()));
  if (!filter) return false;
  into.stages_.push_back({std::move(*filter), *capacity, inserted});
  return true;
}

std::vector<std::uint8_t> ScalableFilter::save() const {
  FileWriter file(FilterKind::scalable, 40 + byte_count() + stages_.size() * (8 + kShapeBytes));
  file.number(plan_.capacity).number(std::bit_cast<std::uint64_t>(plan_.rate));
  file.number(std::bit_cast<std::uint64_t>(plan_.tightening));
  file.number(static_cast<std::uint64_t>(plan_.growth)).number(stages_.size());
  for (const Stage& stage : stages_) {
    file.number(stage.inserted).shape(stage.filter.shape()).bytes(stage.filter.bytes());
  }
  return std::move(file).finish();
}

Sized<bool> ScalableFilter::insert(const Key& key) {
  // A key that some stage claims by mistake is left out: it is claimed already.
  if (contains(key)) return false;
  if (stages_.back().inserted == stages_.back().capacity) {
    if (const auto grown = grow(); !grown) return grown.error();
  }
  stages_.back().filter.insert(key);
  ++stages_.back().inserted;
  return true;
}

// The newest stage first: it holds the most keys.
bool ScalableFilter::contains(const Key& key) const {
  return std::any_of(stages_.rbegin(), stages_.rend(),
                     [&key](const Stage& stage) { return stage.filter.contains(key); });
}

std::uint64_t ScalableFilter::entries() const {
  std::uint64_t sum = 0;
  for (const Stage& stage : stages_) sum += stage.inserted;
  return sum;
}

std::size_t ScalableFilter::byte_count() const {
  std::size_t sum = 0;
  for (const Stage& stage : stages_) sum += stage.filter.bytes().size();
  return sum;
}

double ScalableFilter::false_positive_rate() const {
  // Each stage is asked until one claims the key, so the rates of being right multiply.
  double right = 1;
  for (const Stage& stage : stages_) right *= 1 - stage.filter.false_positive_rate();
  return 1 - right;
}

Sized<std::uint64_t> ScalableFilter::next_capacity() const {
  if (stages_.empty()) return plan_.capacity;
  const std::uint64_t next = stages_.back().capacity * static_cast<std::uint64_t>(plan_.growth);
  if (next > kMaxBits) return SizingError::too_large;
  return next;
}

Sized<void> ScalableFilter::grow() {
  const auto capacity = next_capacity();
  if (!capacity) return capacity.error();
  // The rates of all stages form a geometric series, whose sum is the rate of the plan.
  const auto index = static_cast<double>(stages_.size());
  const auto shape =
      shape_for(*capacity, plan_.rate * (1 - plan_.tightening) * std::pow(plan_.tightening, index));
  if (!shape) return shape.error();
  stages_.push_back({*BloomFilter::create(*shape), *capacity, 0});
  return {};
}

}  // namespace digest
