// Many address ranges, and whether an address is in one: a search, not a walk.
#pragma once

#include <cstddef>
#include <vector>

#include "config/networks.hpp"

namespace proxy::lists {

// Networks nest or are apart, so without those inside others the last one that does not begin
// beyond an address decides. Built by one thread; any number may read it then.
class NetworkSet {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 26;

  // At most kMost.
  void insert(const config::Network& network);
  // Sorts, and drops what lies within others. No insert() after it, no question before.
  void finish();

  bool contains(const config::Address& address) const;

  std::size_t size() const { return v4_.size() + v6_.size(); }
  std::size_t bytes() const { return (v4_.capacity() + v6_.capacity()) * sizeof(config::Network); }

 private:
  // Apart, because a range of IPv6 that is wide enough to hold the mapped addresses does not.
  config::Networks v4_;
  config::Networks v6_;
};

}  // namespace proxy::lists
