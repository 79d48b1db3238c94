#include "proxy/observe/peer_watch.hpp"

#include <spdlog/spdlog.h>

#include <utility>

namespace proxy {
namespace {

// One failed poll may be an accident; a second one follows within two seconds.
constexpr std::uint32_t kDownAfter = 2;

std::string why_resting(peers::Reason reason) {
  switch (reason) {
    case peers::Reason::lies:
      return "most of its recent claims were false, so it rests";
    case peers::Reason::contradicted:
      return "the origin contradicts what it gave, so it rests";
    default:
      return "it failed requests, and rests";
  }
}

}  // namespace

std::string why_down(const peers::PeerStatus& peer) {
  using peers::PeerState;
  switch (peer.state) {
    case PeerState::resting:
      return why_resting(peer.books.reason);
    case PeerState::failing:
    case PeerState::stale:
      return "its digest cannot be fetched: " + peer.last_error;
    case PeerState::off:
    case PeerState::waiting:
    case PeerState::usable:
    case PeerState::trying:
      break;
  }
  return peer.failed_in_a_row >= kDownAfter ? "its digest cannot be fetched: " + peer.last_error
                                            : std::string();
}

// A neighbour that is being tried was down, and may be again at once.
void PeerWatch::look(const std::vector<peers::PeerStatus>& peers, Time now) {
  std::map<std::string, Time> down;
  for (const auto& peer : peers) {
    const auto why = why_down(peer);
    const auto known = down_since_.find(peer.name);
    const bool was_down = known != down_since_.end();
    const bool is_down = !why.empty() || (was_down && peer.state == peers::PeerState::trying);
    if (is_down) {
      down.emplace(peer.name, was_down ? known->second : now);
      // The check that found a contradiction has said so, with the URL.
      const bool is_said = peer.state == peers::PeerState::resting &&
                           peer.books.reason == peers::Reason::contradicted;
      if (!was_down && !is_said) spdlog::warn("peer {} is down: {}; requests go without it", peer.name, why);
    } else if (was_down) {
      const auto gone = std::chrono::duration_cast<std::chrono::seconds>(now - known->second);
      spdlog::info("peer {} is back, after {} s", peer.name, gone.count());
    }
  }
  down_since_ = std::move(down);
}

}  // namespace proxy
