// Remembers endpoints that could not be reached a moment ago, so that not every request waits for
// the same failure.
#pragma once

#include <chrono>

#include "config/expiring_table.hpp"
#include "proxy/net/asio.hpp"
#include "proxy/upstream/endpoint.hpp"

namespace proxy::upstream {

// Not thread-safe.
class FailedEndpoints {
 public:
  using Clock = std::chrono::steady_clock;

  // `memory`: how long a failure is remembered; 0: not at all.
  explicit FailedEndpoints(std::chrono::milliseconds memory, std::size_t capacity = 1024)
      : memory_(memory), failures_(capacity) {}

  // Sets how long later failures are remembered.
  void remember_for(std::chrono::milliseconds memory) { memory_ = memory; }

  // Why the endpoint could not be connected to; no error if nothing is known.
  [[nodiscard]] net::error_code find(const Endpoint& endpoint, Clock::time_point now) const;
  // Records a connection that was refused, failed or timed out. Ignores other errors: those of
  // names, denied addresses and TLS.
  void note(const Endpoint& endpoint, net::error_code error, Clock::time_point now);

 private:
  std::chrono::milliseconds memory_;
  config::ExpiringTable<Endpoint, net::error_code> failures_;
};

}  // namespace proxy::upstream
