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

Route Route::without_first() const {
  Route rest = *this;
  if (rest.has_parents()) rest.order.erase(rest.order.begin());
  return rest;
}

}  // namespace proxy::upstream
