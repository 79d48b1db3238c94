#include "proxy/worker/origin_times.hpp"

namespace proxy {

peers::FirstByte OriginTimes::find(const upstream::Endpoint& origin, Clock::time_point now) const {
  const auto found = known_.find(origin);
  const bool fresh = found != known_.end() && now - found->second.measured < kFades;
  return fresh ? found->second.estimate : peers::FirstByte();
}

void OriginTimes::note(const upstream::Endpoint& origin, std::chrono::microseconds took,
                       Clock::time_point now) {
  const auto estimate = find(origin, now).with(took);
  const Known known{estimate, now};
  const bool added = known_.insert_or_assign(origin, known).second;
  if (!added) return;
  order_.push_back(origin);
  if (order_.size() <= capacity_) return;
  known_.erase(order_.front());
  order_.pop_front();
}

}  // namespace proxy
