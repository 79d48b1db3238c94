#include "proxy/upstream/failed_endpoints.hpp"

#include "proxy/upstream/error.hpp"

namespace proxy::upstream {

net::error_code FailedEndpoints::find(const Endpoint& endpoint, Clock::time_point now) const {
  const auto* const error = failures_.find(endpoint, now);
  return error ? *error : net::error_code();
}

void FailedEndpoints::note(const Endpoint& endpoint, net::error_code error, Clock::time_point now) {
  const bool of_connecting = error == Errc::connect_refused || error == Errc::connect_failed ||
                             error == Errc::connect_timed_out;
  if (of_connecting && memory_.count() > 0) failures_.put(endpoint, error, now + memory_);
}

}  // namespace proxy::upstream
