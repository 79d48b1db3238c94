#include "proxy/sources/whom_to_ask.hpp"

#include "proxy/sources/origin.hpp"
#include "proxy/sources/source_access.hpp"

namespace proxy {

using Steady = std::chrono::steady_clock;

peers::FirstByte origin_takes(const SourceAccess& access, const Request& request) {
  const auto origin = origin_of(request.target, request.policy().lists);
  return access.origin_times.find(origin, Steady::now());
}

std::optional<Barred> why_barred(const peers::Peer& peer, const Request& request, bool guests) {
  if (!guests && peer.trust == config::Trust::guest) return Barred::guest;
  if (!request.policy().routes.may_ask(peer.id, request.target)) return Barred::host;
  return std::nullopt;
}

peers::PeerRef neighbour_of_site(SourceAccess& access, const digest::Key& key,
                                 const Request& request) {
  const auto& directory = request.policy().directory;
  const auto now = Steady::now();
  const auto ours = access.shared.publisher.current()->epoch;
  if (auto owner = directory->owner(key, ours, now)) return owner;
  const auto fetcher = access.shared.site_fetches.fetcher_of(key, now);
  return fetcher ? directory->member(*fetcher, now) : nullptr;
}

bool pays(const peers::Peer& neighbour, const Request& request, const peers::FirstByte& origin,
          Held held) {
  const auto& policy = request.policy();
  return policy.routes.may_ask(neighbour.id, request.target) &&
         site_pays(origin, neighbour.accuracy.first_byte(), policy.settings.digest.prefer, held);
}

bool may_collapse(const Request& request) {
  return request.policy().settings.digest.site_collapse == config::SiteCollapse::automatic;
}

}  // namespace proxy
