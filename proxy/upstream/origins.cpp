#include "proxy/upstream/origins.hpp"

#include <utility>

namespace proxy::upstream {
namespace {

Origins::Clock::rep ticks(Origins::Clock::time_point time) {
  return time.time_since_epoch().count();
}

}  // namespace

Origins::Origins(std::vector<Endpoint> servers)
    : servers_(std::move(servers)), states_(std::make_unique<State[]>(servers_.size())) {}

std::optional<std::size_t> Origins::next(Tried& tried, Clock::time_point now) {
  std::optional<std::size_t> chosen;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    if (tried[i]) continue;
    if (available(i, now)) {
      chosen = i;
      break;
    }
    if (!chosen || states_[i].rests_until < states_[*chosen].rests_until) chosen = i;
  }
  if (chosen) tried.set(*chosen);
  return chosen;
}

// The first caller after the end of a rest renews it for the others and tries the server itself.
bool Origins::available(std::size_t server, Clock::time_point now) {
  Ticks until = states_[server].rests_until;
  if (until == 0) return true;
  return until <= ticks(now) &&
         states_[server].rests_until.compare_exchange_strong(until, ticks(now + kRest));
}

void Origins::failed(std::size_t server, Clock::time_point now) {
  states_[server].rests_until = ticks(now + kRest);
}

void Origins::worked(std::size_t server, Clock::time_point now) {
  states_[server].answered = ticks(now);
  if (states_[server].rests_until != 0) states_[server].rests_until = 0;
}

void Origins::silent_since(Clock::time_point asked, std::size_t server, Clock::time_point now) {
  if (states_[server].answered < ticks(asked)) failed(server, now);
}

}  // namespace proxy::upstream
