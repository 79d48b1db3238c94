// Endpoints that could not be connected to a moment ago: trying again would cost each request the
// same wait.
#pragma once

#include <chrono>
#include <deque>
#include <unordered_map>

#include "proxy/net/asio.hpp"
#include "proxy/upstream/endpoint.hpp"

namespace proxy::upstream {

// Bounded: forgets the oldest first. Not thread-safe.
class FailedEndpoints {
 public:
  using Clock = std::chrono::steady_clock;

  // `memory` is how long each is remembered; 0: not at all.
  explicit FailedEndpoints(std::chrono::milliseconds memory, std::size_t capacity = 1024)
      : memory_(memory), capacity_(capacity) {}

  // For what is noted from now on.
  void remember_for(std::chrono::milliseconds memory) { memory_ = memory; }

  // Why the endpoint could not be connected to; no error if nothing is known.
  [[nodiscard]] net::error_code find(const Endpoint& endpoint, Clock::time_point now) const;
  // Records a connection that was refused, failed or timed out. Ignores other errors: of names, of
  // denied addresses and of TLS.
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
