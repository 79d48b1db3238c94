#include "proxy/cache/disk/catalog/record_times.hpp"

#include <limits>

namespace proxy::cache::disk {

RecordTimes::milliseconds RecordTimes::follow(milliseconds ahead) {
  const milliseconds before(now_ahead_.exchange(ahead.count()));
  if (ahead.count() != 0) stepped_ = true;
  return std::max(ahead, milliseconds(0)) - std::max(before, milliseconds(0));
}

RecordTimes::milliseconds RecordTimes::append(Position at) {
  const bool begins = begun_.load(std::memory_order_relaxed) == to_number(kLastPosition);
  if (!begins && !stepped_.load(std::memory_order_relaxed)) return {};
  const threads::MutexLock lock(mutex_);
  // A record that could not be written may have begun an era.
  while (eras_.size() > 1 && eras_.back().from >= at) eras_.pop_back();
  const milliseconds wanted(now_ahead_.load());
  if (eras_.empty()) begun_ = to_number(at);
  const bool changes = eras_.empty() || eras_.back().ahead != wanted;
  if (changes && eras_.size() < kMostEras) eras_.push_back({at, wanted});
  return eras_.back().ahead;
}

bool RecordTimes::is_earlier(Position at) const {
  return to_number(at) < begun_.load(std::memory_order_relaxed);
}

RecordTimes::milliseconds RecordTimes::ahead(Position at) const {
  if (!stepped_.load(std::memory_order_relaxed)) return {};
  if (is_earlier(at)) return std::max(milliseconds(now_ahead_.load()), milliseconds(0));
  const threads::MutexLock lock(mutex_);
  auto era = eras_.rbegin();
  while (era + 1 != eras_.rend() && era->from > at) ++era;
  return era->ahead;
}

void shift_times(RecordHeader& record, std::chrono::milliseconds by) {
  if (by.count() == 0) return;
  if (record.response_time != 0) {
    record.response_time = std::max<std::int64_t>(record.response_time + by.count(), 1);
  }
  if (record.claimable_until == 0) return;
  const auto until = record.claimable_until + std::chrono::floor<std::chrono::seconds>(by).count();
  record.claimable_until = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(until, 1, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace proxy::cache::disk
