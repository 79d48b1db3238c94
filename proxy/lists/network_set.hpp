// A set of address ranges. Finds in logarithmic time whether a range contains an address.
#pragma once

#include <cstddef>
#include <vector>

#include "config/networks.hpp"

namespace proxy::lists {

// Two networks are nested or disjoint. Without nested ones, only the last network that does not
// begin beyond an address can contain it. One thread builds the set; then any number may read it.
class NetworkSet {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 26;

  // The set holds at most kMost networks.
  void insert(const config::Network& network);
  // Sorts the networks and drops nested ones. Must be called after the last insert() and before
  // contains().
  void finish();

  bool contains(const config::Address& address) const;

  std::size_t size() const { return v4_.size() + v6_.size(); }
  std::size_t bytes() const { return (v4_.capacity() + v6_.capacity()) * sizeof(config::Network); }

 private:
  // IPv4 is separate, because a range of IPv6 never contains mapped IPv4 addresses, however wide it
  // is.
  config::Networks v4_;
  config::Networks v6_;
};

}  // namespace proxy::lists
