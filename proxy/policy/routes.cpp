#include "proxy/policy/routes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "digest/key.hpp"
#include "digest/little_endian.hpp"
#include "peers/site.hpp"

namespace proxy::policy {
namespace {

using config::PeerSettings;

// Host and port alone: name and role are what each proxy calls it, and all must order alike.
std::uint64_t identity_of(const PeerSettings& peer) {
  const auto place = peer.host + ' ' + std::to_string(peer.port);
  return digest::load64(digest::key_of(digest::Method::get, place).bytes.data());
}

std::shared_ptr<upstream::Parents> parents_of(const std::vector<PeerSettings>& peers) {
  std::vector<upstream::Parent> parents;
  for (const auto& peer : peers) {
    if (!peer.is_parent()) continue;
    parents.push_back({peer.name,
                       {peer.tls, peer.host, peer.port, upstream::NamedBy::configured},
                       peers::basic_credentials(peer.login)});
  }
  return parents.empty() ? nullptr : std::make_shared<upstream::Parents>(std::move(parents));
}

// "http://example.com:8080", as the target of a request to a proxy begins. Empty for CONNECT.
std::string site_of(const http::Target& target) {
  if (target.form() == http::Target::Form::authority) return {};
  return std::string(target.scheme()).append("://").append(target.authority());
}

}  // namespace

double rendezvous_score(const digest::Key& url, std::uint64_t parent, unsigned weight) {
  const auto drawn = static_cast<double>(peers::bid_for(url, parent) >> 12);  // 52 bits
  // Half a step away from 0 and from 1, which have no logarithm to divide by.
  return weight / -std::log((drawn + 0.5) * 0x1p-52);
}

Routes::Routes(const config::Settings& settings, const Routes* before,
               const std::vector<peers::PeerRef>& peers)
    : hosts_(settings.peers),
      never_direct_(http::host_patterns(settings.never_direct)),
      members_([&] {
        std::vector<Member> members;
        for (std::size_t i = 0; i < settings.peers.size(); ++i) {
          const auto& peer = settings.peers[i];
          if (!peer.is_parent()) continue;
          members.push_back(
              {i, identity_of(peer), peer.weight, peer.tls, i < peers.size() ? peers[i] : nullptr});
        }
        return members;
      }()),
      parents_(before ? before->parents_ : parents_of(settings.peers)) {}

upstream::Route Routes::find(const http::Target& target) const {
  upstream::Route route;
  const auto is_ourselves = [](const Member& member) { return member.is_ourselves(); };
  if (std::all_of(members_.begin(), members_.end(), is_ourselves)) return route;
  route.direct = !http::matches_any(never_direct_, target);
  const bool is_connect = target.form() == http::Target::Form::authority;
  for (std::size_t number = 0; number < members_.size(); ++number) {
    const auto& member = members_[number];
    // The path and the fields of an https URL would cross the network in clear.
    const bool may_see = is_connect || !target.https() || member.tls;
    if (may_see && !member.is_ourselves() && hosts_.may_ask(member.peer, target))
      route.order.push_back(number);
  }
  if (!route.has_parents()) return route;
  route.parents = parents_;
  route.site = site_of(target);
  // With one parent, which is common, nothing is hashed.
  if (route.order.size() > 1) put_in_order(route, target);
  return route;
}

void Routes::put_in_order(upstream::Route& route, const http::Target& target) const {
  const auto key = digest::key_of(digest::Method::get, target.url());
  // Scored once each: the comparison of a sort would compute each logarithm several times.
  std::vector<double> scores(members_.size());
  for (const std::size_t number : route.order) {
    const auto& member = members_[number];
    scores[number] = rendezvous_score(key, member.identity, member.weight);
  }
  std::sort(route.order.begin(), route.order.end(),
            [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
}

std::optional<Routes::Status> Routes::status(std::size_t peer,
                                             upstream::Origins::Clock::time_point now) const {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [peer](const Member& member) { return member.peer == peer; });
  if (found == members_.end()) return std::nullopt;
  const auto number = static_cast<std::size_t>(found - members_.begin());
  const auto& counts = parents_->counts(number);
  auto& live = parents_->live();
  const bool rests = live.rests(number, now);
  return Status{rests, !rests && live.in_doubt(number), counts.requests, counts.failures};
}

}  // namespace proxy::policy
