#include "proxy/upstream/origins.hpp"

#include <utility>

namespace proxy::upstream {
namespace {

Origins::Clock::rep ticks(Origins::Clock::time_point time) {
  return time.time_since_epoch().count();
}

}  // namespace

Origins::Origins(std::vector<Endpoint> servers)
    : servers_(std::move(servers)),
      rests_until_(std::make_unique<std::atomic<Ticks>[]>(servers_.size())) {}

std::optional<std::size_t> Origins::next(Tried& tried, Clock::time_point now) {
  std::optional<std::size_t> chosen;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    if (tried[i]) continue;
    if (available(i, now)) {
      chosen = i;
      break;
    }
    if (!chosen || rests_until_[i] < rests_until_[*chosen]) chosen = i;
  }
  if (chosen) tried.set(*chosen);
  return chosen;
}

// Whoever finds a rest to be over renews it for the others, and is the one who tries.
bool Origins::available(std::size_t server, Clock::time_point now) {
  Ticks until = rests_until_[server];
  if (until == 0) return true;
  return until <= ticks(now) &&
         rests_until_[server].compare_exchange_strong(until, ticks(now + kRest));
}

void Origins::failed(std::size_t server, Clock::time_point now) {
  rests_until_[server] = ticks(now + kRest);
}

void Origins::worked(std::size_t server) {
  if (rests_until_[server] != 0) rests_until_[server] = 0;
}

}  // namespace proxy::upstream
