// Divides what is short among those who want it. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace proxy {

// The max-min fair shares of `total`: equal, except that nobody gets more than `most` says, and the
// others share what is left by that. They differ by the remainder of a division otherwise.
inline std::vector<std::uint64_t> fair_shares(std::uint64_t total,
                                              std::span<const std::uint64_t> most) {
  std::vector<std::size_t> order(most.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return most[a] < most[b]; });
  std::vector<std::uint64_t> shares(most.size());
  auto wanting = most.size();
  for (const auto one : order) {
    shares[one] = std::min(most[one], total / wanting--);
    total -= shares[one];
  }
  return shares;
}

}  // namespace proxy
