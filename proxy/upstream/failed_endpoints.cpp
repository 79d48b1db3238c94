#include "proxy/upstream/failed_endpoints.hpp"

#include "proxy/upstream/error.hpp"

namespace proxy::upstream {

net::error_code FailedEndpoints::find(const Endpoint& endpoint, Clock::time_point now) const {
  const auto found = failures_.find(endpoint);
  const bool holds = found != failures_.end() && now < found->second.until;
  return holds ? found->second.error : net::error_code();
}

void FailedEndpoints::note(const Endpoint& endpoint, net::error_code error, Clock::time_point now) {
  const bool of_connecting = error == Errc::connect_refused || error == Errc::connect_failed ||
                             error == Errc::connect_timed_out;
  if (!of_connecting || memory_ <= std::chrono::milliseconds(0)) return;
  const bool is_new =
      failures_.insert_or_assign(endpoint, KnownFailure{error, now + memory_}).second;
  if (is_new) order_.push_back(endpoint);
  if (order_.size() <= capacity_) return;
  failures_.erase(order_.front());
  order_.pop_front();
}

}  // namespace proxy::upstream
