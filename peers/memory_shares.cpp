#include "peers/memory_shares.hpp"

#include <algorithm>
#include <numeric>

namespace peers {
namespace {

std::size_t sum_of(KeptBytes kept) {
  return std::accumulate(kept.begin(), kept.end(), std::size_t{0});
}

}  // namespace

std::size_t share_of_each(std::size_t limit, std::size_t peers) {
  return limit / std::max<std::size_t>(peers, 1);
}

std::size_t room_for(KeptBytes kept, std::size_t peer, std::size_t limit) {
  const std::size_t others = sum_of(kept) - kept[peer];
  return std::max(share_of_each(limit, kept.size()), limit - std::min(others, limit));
}

// If a digest within its share takes the sum over the limit, some other exceeds its share.
std::optional<std::size_t> to_give_way(KeptBytes kept, std::size_t newest, std::size_t limit) {
  if (sum_of(kept) <= limit) return std::nullopt;
  std::optional<std::size_t> largest;
  for (std::size_t peer = 0; peer < kept.size(); ++peer) {
    if (peer != newest && (!largest || kept[peer] > kept[*largest])) largest = peer;
  }
  return largest;
}

}  // namespace peers
