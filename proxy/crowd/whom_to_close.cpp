#include "proxy/crowd/whom_to_close.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "proxy/crowd/client_table.hpp"

namespace proxy {
namespace {

constexpr std::size_t kShare = 64;

bool may_close(const Waiting& waiting, const Newcomer& newcomer) {
  const bool own = waiting.client == newcomer.client;
  if (newcomer.place == Newcomer::Place::own) return own;
  if (newcomer.place == Newcomer::Place::network)
    return network_of(waiting.client) == network_of(newcomer.client);
  return !own && waiting.connections > newcomer.connections &&
         waiting.connections >= newcomer.spared_below;
}

}  // namespace

std::vector<std::size_t> whom_to_close(std::span<const Waiting> waiting, const Newcomer& newcomer) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (may_close(waiting[i], newcomer)) found.push_back(i);
  }
  if (found.empty()) return found;
  const auto greediest = *std::max_element(found.begin(), found.end(), [&](auto a, auto b) {
    return std::tie(waiting[a].connections, waiting[a].client) <
           std::tie(waiting[b].connections, waiting[b].client);
  });
  std::erase_if(found, [&](auto i) { return waiting[i].client != waiting[greediest].client; });
  const auto most = std::min(found.size(), 1 + waiting[greediest].connections / kShare);
  const auto end = found.begin() + static_cast<std::ptrdiff_t>(most);
  std::partial_sort(found.begin(), end, found.end(), [&](auto a, auto b) {
    return std::tuple(!waiting[a].idle, waiting[a].since) <
           std::tuple(!waiting[b].idle, waiting[b].since);
  });
  found.erase(end, found.end());
  return found;
}

}  // namespace proxy
