#include "proxy/upstream/range_refusals.hpp"

#include "digest/keyed_hash.hpp"

namespace proxy::upstream {
namespace {

struct Refusal {
  std::uint64_t hash;  // of the origin; only its upper half is kept
  std::uint32_t minute;
  bool known;
};

std::uint32_t minute_of(RangeRefusals::Clock::time_point now) {
  const auto minutes = std::chrono::floor<std::chrono::minutes>(now.time_since_epoch()).count();
  return static_cast<std::uint32_t>(minutes) & 0x7fff'ffffU;
}

std::uint64_t packed(const Refusal& one) {
  return one.hash >> 32U << 32U | std::uint64_t{one.minute} << 1U | (one.known ? 1U : 0U);
}

// Whether the slot tells of a recent refusal by this origin. An empty slot tells of none.
bool tells_of(std::uint64_t slot, std::uint64_t hash, RangeRefusals::Clock::time_point now) {
  const auto minute = static_cast<std::uint32_t>(slot >> 1U) & 0x7fff'ffffU;
  const auto age = minute_of(now) - minute;
  return slot != 0 && slot >> 32U == hash >> 32U &&
         age < static_cast<std::uint32_t>(RangeRefusals::kKept.count());
}

}  // namespace

void RangeRefusals::note_refused(std::string_view origin, Clock::time_point now) {
  const std::uint64_t hash = digest::TextHash{}(origin);
  auto& slot = slots_[hash % kMost];
  if (tells_of(slot.load(std::memory_order_relaxed), hash, now)) return;
  slot.store(packed({hash, minute_of(now), false}), std::memory_order_relaxed);
  any_.store(true, std::memory_order_relaxed);
}

void RangeRefusals::note_granted(std::string_view origin, Clock::time_point now) {
  if (!any_.load(std::memory_order_relaxed)) return;
  const std::uint64_t hash = digest::TextHash{}(origin);
  auto& slot = slots_[hash % kMost];
  if (!tells_of(slot.load(std::memory_order_relaxed), hash, now)) return;
  slot.store(packed({hash, minute_of(now), true}), std::memory_order_relaxed);
}

bool RangeRefusals::has(std::string_view origin, Clock::time_point now) const {
  if (!any_.load(std::memory_order_relaxed)) return false;
  const std::uint64_t hash = digest::TextHash{}(origin);
  const auto slot = slots_[hash % kMost].load(std::memory_order_relaxed);
  return (slot & 1U) != 0 && tells_of(slot, hash, now);
}

}  // namespace proxy::upstream
