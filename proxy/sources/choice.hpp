// The order in which claimants are asked. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "peers/accuracy.hpp"

namespace proxy {

// What an answer from the claimant is likely to cost, in microseconds: its time to first byte,
// times the questions under way there, divided by the share of its claims that came true.
inline double price_of(const peers::Accuracy::Standing& claimant) {
  const auto takes = static_cast<double>(claimant.first_byte.mean().count());
  return (takes + 1.0) * (claimant.under_way + 1.0) / claimant.came_true;
}

// Whether the first price is so much lower that it is no chance: below two thirds, and by more than
// a millisecond.
inline bool clearly_less(double price, double other) {
  return 1.5 * price < other && price + 1'000 < other;
}

// Orders claimants by drawing two of those left at random and taking the better one; equals share
// the questions evenly. Always taking the best would send them all to whoever was measured best.
// `standing_of` gives the standing of an element; `draw` a random number.
template <class T, class StandingOf>
void order_by_choice(std::span<T> claimants, StandingOf standing_of,
                     const std::function<std::uint32_t()>& draw) {
  for (std::size_t i = 0; i + 1 < claimants.size(); ++i) {
    const auto left = claimants.size() - i;
    const auto first = i + draw() % left;
    const auto second = i + (first - i + 1 + draw() % (left - 1)) % left;
    const bool better = clearly_less(price_of(standing_of(claimants[second])),
                                     price_of(standing_of(claimants[first])));
    std::swap(claimants[i], claimants[better ? second : first]);
  }
}

}  // namespace proxy
