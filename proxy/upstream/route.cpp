#include "proxy/upstream/route.hpp"

#include <numeric>
#include <utility>

namespace proxy::upstream {
namespace {

std::vector<std::size_t> numbers_up_to(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  return numbers;
}

std::unique_ptr<Origins> live_state_of(const std::vector<Parent>& list) {
  std::vector<Endpoint> servers;
  for (const Parent& parent : list) servers.push_back(parent.at);
  return servers.empty() ? nullptr : std::make_unique<Origins>(std::move(servers));
}

}  // namespace

Origins::Origins(std::vector<Endpoint> servers)
    : servers_(std::move(servers)),
      all_(numbers_up_to(servers_.size())),
      states_(std::make_unique<State[]>(servers_.size())) {}

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

// Compared before it is stored: a store takes the cache line from the other threads, for each
// answer.
void Origins::worked(std::size_t server, Clock::time_point now) {
  states_[server].answered = ticks(now);
  if (states_[server].rests_until != 0) states_[server].rests_until = 0;
}

Parents::Parents(std::vector<Parent> list)
    : list_(std::move(list)),
      live_(live_state_of(list_)),
      counts_(std::make_unique<Counts[]>(list_.size())) {}

bool Route::begins_in_doubt(Origins::Clock::time_point now) const {
  for (const std::size_t number : order) {
    if (!parents->live().rests(number, now)) return parents->live().in_doubt(number);
  }
  return has_parents() && !direct;
}

}  // namespace proxy::upstream
