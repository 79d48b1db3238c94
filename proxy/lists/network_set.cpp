#include "proxy/lists/network_set.hpp"

#include <algorithm>
#include <tuple>

namespace proxy::lists {
namespace {

constexpr unsigned kV4Start = 96;

using config::Network;

void keep_outermost(config::Networks& networks) {
  std::sort(networks.begin(), networks.end(), [](const Network& a, const Network& b) {
    return std::tie(a.address, a.prefix) < std::tie(b.address, b.prefix);
  });
  config::Networks kept;
  for (const Network& network : networks) {
    if (kept.empty() || !kept.back().contains(network.address)) kept.push_back(network);
  }
  kept.shrink_to_fit();
  networks = std::move(kept);
}

}  // namespace

void NetworkSet::insert(const Network& network) {
  const bool v4 = network.prefix >= kV4Start && config::is_v4(network.address);
  (v4 ? v4_ : v6_).push_back(network);
}

void NetworkSet::finish() {
  keep_outermost(v4_);
  keep_outermost(v6_);
}

bool NetworkSet::contains(const config::Address& address) const {
  const config::Networks& networks = config::is_v4(address) ? v4_ : v6_;
  const auto beyond = std::upper_bound(
      networks.begin(), networks.end(), address,
      [](const config::Address& wanted, const Network& each) { return wanted < each.address; });
  return beyond != networks.begin() && (beyond - 1)->contains(address);
}

}  // namespace proxy::lists
