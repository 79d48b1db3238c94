// Chooses among several servers with the same content. A server rests after a failure.
#pragma once

#include <atomic>
#include <bitset>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "proxy/upstream/endpoint.hpp"

namespace proxy::upstream {

// Prefers the first server that works. A server that failed is skipped for kRest. Then a single
// request tries it, and others use it only after it has answered. Any thread.
class Origins {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kRest{10};
  static constexpr std::size_t kMost = 32;
  using Tried = std::bitset<kMost>;

  // Takes 1 to kMost servers.
  explicit Origins(std::vector<Endpoint> servers);

  // Chooses an untried server and marks it as tried. If all untried servers rest, chooses the one
  // that has rested longest. Returns nothing if all have been tried.
  std::optional<std::size_t> next(Tried& tried, Clock::time_point now);
  // As above, among the servers that `order` names.
  enum class AtRest : std::uint8_t {
    last,     // servers that rest are chosen last
    skipped,  // they are not chosen
  };
  std::optional<std::size_t> next(Tried& tried, Clock::time_point now,
                                  std::span<const std::size_t> order, AtRest at_rest);
  void failed(std::size_t server, Clock::time_point now);
  void worked(std::size_t server, Clock::time_point now);
  // Records that the server did not answer a request sent at `asked`. This counts as a failure
  // unless the server has answered another request since: then the request is slow, not the server.
  void silent_since(Clock::time_point asked, std::size_t server, Clock::time_point now);

  const Endpoint& operator[](std::size_t server) const { return servers_[server]; }
  [[nodiscard]] std::size_t size() const { return servers_.size(); }
  [[nodiscard]] bool rests(std::size_t server, Clock::time_point now) const;
  // Whether the server has failed, and has not answered since.
  [[nodiscard]] bool in_doubt(std::size_t server) const;

 private:
  using Ticks = Clock::rep;

  bool available(std::size_t server, Clock::time_point now);

  const std::vector<Endpoint> servers_;
  const std::vector<std::size_t> all_;  // their numbers, in order
  struct State {
    std::atomic<Ticks> rests_until{0};  // 0: works, as far as we know
    std::atomic<Ticks> answered{0};     // time of the last answer
  };
  std::unique_ptr<State[]> states_;
};

}  // namespace proxy::upstream
