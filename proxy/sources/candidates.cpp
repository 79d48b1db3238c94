#include "proxy/sources/candidates.hpp"

#include <algorithm>

namespace proxy {

Candidates::Candidates(peers::Claimants claimants, const Budget& budget, peers::SteadyTime now,
                       const std::function<std::uint32_t()>& draw) {
  for (auto& peer : claimants) {
    switch (whether_to_ask(peer->accuracy.standing(), budget, now)) {
      case Ask::yes:
        in_line_.push_back(std::move(peer));
        break;
      case Ask::on_trial:
        on_trial_.push_back(std::move(peer));
        break;
      case Ask::no:
        too_slow_.push_back(std::move(peer));
        break;
    }
  }
  order_by_choice(
      std::span(in_line_.data(), in_line_.size()),
      [](const peers::PeerRef& peer) { return peer->accuracy.standing(); }, draw);
}

std::optional<Ask> Candidates::place_of(const peers::PeerRef& peer) const {
  const auto has = [&](const peers::Claimants& some) {
    return std::find(some.begin(), some.end(), peer) != some.end();
  };
  if (has(in_line_)) return Ask::yes;
  if (has(on_trial_)) return Ask::on_trial;
  return has(too_slow_) ? std::optional(Ask::no) : std::nullopt;
}

peers::PeerRef Candidates::begin_trial() {
  const auto free = std::find_if(on_trial_.begin(), on_trial_.end(), [](const auto& peer) {
    return peer->accuracy.probation().begin_trial();
  });
  if (free == on_trial_.end()) return nullptr;
  auto peer = std::move(*free);
  on_trial_.erase(free);
  return peer;
}

void Candidates::call_reserve() {
  for (auto* const some : {&on_trial_, &too_slow_}) {
    for (auto& peer : *some) in_line_.push_back(std::move(peer));
    some->clear();
  }
}

}  // namespace proxy
