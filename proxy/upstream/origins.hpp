// Servers of which any has the content: which one is asked, and which ones rest.
#pragma once

#include <atomic>
#include <bitset>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "proxy/upstream/endpoint.hpp"

namespace proxy::upstream {

// The first that works is preferred. One that failed is passed over for kRest; then one request
// tries it, and the others only follow once it has answered. Any thread.
class Origins {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kRest{10};
  static constexpr std::size_t kMost = 32;
  using Tried = std::bitset<kMost>;

  // From 1 to kMost servers.
  explicit Origins(std::vector<Endpoint> servers);

  // Which of those not tried to ask: where all of them rest, the one that has rested longest;
  // nothing when all have been tried. It counts as tried from now on.
  std::optional<std::size_t> next(Tried& tried, Clock::time_point now);
  void failed(std::size_t server, Clock::time_point now);
  void worked(std::size_t server, Clock::time_point now);
  // It did not answer what it was asked then: it failed, unless it has answered something else
  // since, for then that one request is slow, not the server.
  void silent_since(Clock::time_point asked, std::size_t server, Clock::time_point now);

  const Endpoint& operator[](std::size_t server) const { return servers_[server]; }

 private:
  using Ticks = Clock::rep;

  bool available(std::size_t server, Clock::time_point now);

  const std::vector<Endpoint> servers_;
  struct State {
    std::atomic<Ticks> rests_until{0};  // 0: it works, as far as we know
    std::atomic<Ticks> answered{0};     // last
  };
  std::unique_ptr<State[]> states_;
};

}  // namespace proxy::upstream
