#include "proxy/sources/origin_times.hpp"

namespace proxy {

peers::FirstByte OriginTimes::find(const upstream::Endpoint& origin, Clock::time_point now) const {
  const auto* const known = look_up(origin);
  const bool fresh = known && now - known->measured < kFades;
  return fresh ? known->estimate : peers::FirstByte();
}

const OriginTimes::Known* OriginTimes::look_up(const upstream::Endpoint& origin) const {
  if (last_ && last_->first == origin) return &last_->second;
  const auto found = known_.find(origin);
  if (found == known_.end()) return nullptr;
  last_ = &*found;
  return &found->second;
}

void OriginTimes::note(const upstream::Endpoint& origin, std::chrono::microseconds took,
                       Clock::time_point now) {
  const auto estimate = find(origin, now).with(took);
  const Known known{estimate, now};
  const bool added = known_.insert_or_assign(origin, known).second;
  if (!added) return;
  order_.push_back(origin);
  if (order_.size() <= capacity_) return;
  last_ = nullptr;
  known_.erase(order_.front());
  order_.pop_front();
}

}  // namespace proxy
