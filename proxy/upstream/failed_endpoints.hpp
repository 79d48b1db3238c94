// Remembers endpoints that could not be reached a moment ago, so that not every request waits for
// the same failure.
#pragma once

#include <chrono>
#include <deque>
#include <unordered_map>

#include "proxy/net/asio.hpp"
#include "proxy/upstream/endpoint.hpp"

namespace proxy::upstream {

// Bounded: forgets the oldest endpoint first. Not thread-safe.
class FailedEndpoints {
 public:
  using Clock = std::chrono::steady_clock;

  // `memory`: how long a failure is remembered; 0: not at all.
  explicit FailedEndpoints(std::chrono::milliseconds memory, std::size_t capacity = 1024)
      : memory_(memory), capacity_(capacity) {}

  // Sets how long later failures are remembered.
  void remember_for(std::chrono::milliseconds memory) { memory_ = memory; }

  // Why the endpoint could not be connected to; no error if nothing is known.
  [[nodiscard]] net::error_code find(const Endpoint& endpoint, Clock::time_point now) const;
  // Records a connection that was refused, failed or timed out. Ignores other errors: those of
  // names, denied addresses and TLS.
  void note(const Endpoint& endpoint, net::error_code error, Clock::time_point now);

 private:
  struct KnownFailure {
    net::error_code error;
    Clock::time_point until;
  };

  std::chrono::milliseconds memory_;
  const std::size_t capacity_;
  std::unordered_map<Endpoint, KnownFailure> failures_;
  std::deque<Endpoint> order_;  // oldest first
};

}  // namespace proxy::upstream
