#include "proxy/cache/disk/catalog/segments.hpp"

#include <utility>

namespace proxy::cache::disk {

std::shared_ptr<const Segment> Segments::find(std::uint32_t number) const {
  const threads::ReadLock lock(mutex_);
  const auto found = segments_.find(number);
  return found == segments_.end() ? nullptr : found->second;
}

void Segments::add(std::shared_ptr<const Segment> segment) {
  const threads::WriteLock lock(mutex_);
  const auto number = segment->number;
  segments_[number] = std::move(segment);
}

void Segments::remove(std::uint32_t number) {
  const threads::WriteLock lock(mutex_);
  segments_.erase(number);
}

void Segments::clear() {
  const threads::WriteLock lock(mutex_);
  segments_.clear();
}

std::shared_ptr<const Segment> Segments::after(std::uint32_t number) const {
  const threads::ReadLock lock(mutex_);
  const auto found = segments_.upper_bound(number);
  return found == segments_.end() ? nullptr : found->second;
}

void Segments::save_all_users() const {
  for (auto segment = oldest(); segment; segment = after(segment->number)) {
    segment->users.save_all();
  }
}

std::size_t Segments::count() const {
  const threads::ReadLock lock(mutex_);
  return segments_.size();
}

}  // namespace proxy::cache::disk
