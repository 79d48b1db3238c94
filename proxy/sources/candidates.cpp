#include "proxy/sources/candidates.hpp"

#include <span>
#include <utility>

#include "proxy/sources/choice.hpp"

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

void Candidates::call_reserve() {
  for (auto& peer : too_slow_) in_line_.push_back(std::move(peer));
  too_slow_.clear();
}

}  // namespace proxy
