#include "proxy/cache/disk/segments.hpp"

#include <mutex>
#include <utility>

namespace proxy::cache::disk {

std::shared_ptr<const Segment> Segments::find(std::uint32_t number) const {
  const std::shared_lock lock(mutex_);
  const auto found = segments_.find(number);
  return found == segments_.end() ? nullptr : found->second;
}

void Segments::add(std::shared_ptr<const Segment> segment) {
  const std::lock_guard lock(mutex_);
  const auto number = segment->number;
  segments_[number] = std::move(segment);
}

void Segments::remove(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  segments_.erase(number);
}

void Segments::clear() {
  const std::lock_guard lock(mutex_);
  segments_.clear();
}

std::shared_ptr<const Segment> Segments::after(std::uint32_t number) const {
  const std::shared_lock lock(mutex_);
  const auto found = segments_.upper_bound(number);
  return found == segments_.end() ? nullptr : found->second;
}

std::size_t Segments::count() const {
  const std::shared_lock lock(mutex_);
  return segments_.size();
}

}  // namespace proxy::cache::disk
