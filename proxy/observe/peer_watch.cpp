#include "proxy/observe/peer_watch.hpp"

#include <spdlog/spdlog.h>

#include <utility>

namespace proxy {
namespace {

std::string why_it_refuses(peers::PeerKind kind) {
  return kind == peers::PeerKind::squid
             ? "refuses us: its http_access does not allow our address"
             : "refuses us: not in its access.clients, or its access.rules deny us";
}

std::string why_resting(peers::Reason reason, peers::PeerKind kind) {
  switch (reason) {
    case peers::Reason::lies:
      return "most of its recent claims were false, so it rests: look who runs it, and at its log";
    case peers::Reason::contradicted:
      return "the origin contradicts what it gave, so it rests: look who runs it, or set its trust "
             "to "
             "guest";
    case peers::Reason::not_a_proxy:
      return "what answers at its address is not this neighbour, so it rests: look at its url in "
             "peers";
    case peers::Reason::refuses_us:
      return why_it_refuses(kind);
    case peers::Reason::none:
      return {};
    default:
      return "it failed requests, and rests: look at its log, and at the way to it";
  }
}

// The check that finds a contradiction says so itself, with the URL.
bool is_said_already(const peers::PeerStatus& peer) {
  return peer.state == peers::PeerState::resting &&
         peer.books.reason == peers::Reason::contradicted;
}

}  // namespace

std::string why_down(const peers::PeerStatus& peer) {
  using peers::PeerState;
  switch (peer.state) {
    case PeerState::resting:
      return why_resting(peer.books.reason, peer.kind);
    case PeerState::trying:
      // A trial does not say that the peer has ceased to refuse us.
      if (peer.books.reason != peers::Reason::refuses_us) break;
      return why_it_refuses(peer.kind);
    case PeerState::failing:
    case PeerState::stale:
    case PeerState::down:
      return "its digest cannot be fetched: " + peer.last_error +
             (peer.unresolved > 0 ? ": look at its url in the setting peers"
                                  : ": look whether it runs, and at the way to it");
    case PeerState::off:
    case PeerState::waiting:
    case PeerState::usable:
      break;
  }
  return {};
}

bool is_excused(const peers::PeerStatus& peer, bool names_fail) {
  using peers::PeerState;
  const bool by_polls = peer.state == PeerState::failing || peer.state == PeerState::stale ||
                        peer.state == PeerState::down;
  const bool may_be_so = names_fail || peer.unresolved <= peers::kDownAfter;
  return by_polls && peer.unresolved > 0 && may_be_so;
}

// A neighbour that rested and is being tried may rest again at once. One whose polls failed answers
// them again.
bool PeerWatch::look(const std::vector<peers::PeerStatus>& peers, bool names_fail, Time now) {
  using peers::PeerState;
  std::map<std::string, Down> down;
  bool changed = false;
  for (const auto& peer : peers) {
    const auto why = why_down(peer);
    const auto known = down_.find(peer.name);
    const bool was_down = known != down_.end();
    if (is_excused(peer, names_fail)) {
      if (was_down) down.insert(*known);
      continue;
    }
    const bool on_trial = was_down && known->second.rests && peer.state == PeerState::trying;
    if (!why.empty() || on_trial) {
      const bool rests = on_trial || peer.state == PeerState::resting;
      const bool was_said = was_down && known->second.said;
      const bool says = !was_said && !why.empty() && !is_said_already(peer);
      down.emplace(peer.name, Down{was_down ? known->second.since : now, rests, was_said || says});
      changed = changed || !was_down;
      if (says) {
        spdlog::warn("peer {} is down: {}; requests go without it", peer.name, why);
      }
    } else if (was_down) {
      changed = true;
      const auto gone = std::chrono::duration_cast<std::chrono::seconds>(now - known->second.since);
      spdlog::info("peer {} is back, after {} s", peer.name, gone.count());
    }
  }
  down_ = std::move(down);
  return changed;
}

}  // namespace proxy
