#include "proxy/upstream/origins.hpp"

#include <numeric>
#include <utility>

namespace proxy::upstream {
namespace {

Origins::Clock::rep ticks(Origins::Clock::time_point time) {
  return time.time_since_epoch().count();
}

std::vector<std::size_t> numbers_up_to(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  return numbers;
}

}  // namespace

Origins::Origins(std::vector<Endpoint> servers)
    : servers_(std::move(servers)),
      all_(numbers_up_to(servers_.size())),
      states_(std::make_unique<State[]>(servers_.size())) {}

std::optional<std::size_t> Origins::next(Tried& tried, Clock::time_point now) {
  return next(tried, now, all_, AtRest::last);
}

std::optional<std::size_t> Origins::next(Tried& tried, Clock::time_point now,
                                         std::span<const std::size_t> order, AtRest at_rest) {
  std::optional<std::size_t> chosen;
  for (const std::size_t i : order) {
    if (tried[i]) continue;
    if (available(i, now)) {
      chosen = i;
      break;
    }
    if (at_rest == AtRest::skipped) continue;
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

bool Origins::rests(std::size_t server, Clock::time_point now) const {
  return states_[server].rests_until > ticks(now);
}

bool Origins::in_doubt(std::size_t server) const {
  return states_[server].rests_until != 0;
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
