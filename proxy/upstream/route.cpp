#include "proxy/upstream/route.hpp"

#include <utility>

namespace proxy::upstream {
namespace {

std::unique_ptr<Origins> live_state_of(const std::vector<Parent>& list) {
  std::vector<Endpoint> servers;
  for (const Parent& parent : list) servers.push_back(parent.at);
  return servers.empty() ? nullptr : std::make_unique<Origins>(std::move(servers));
}

}  // namespace

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
