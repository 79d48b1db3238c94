// Visits all entries of the index in the order of the log.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "proxy/cache/disk/catalog/index.hpp"

namespace proxy::cache::disk {

// The walk ends where the log ended when the walk began. Other threads may change the index
// meanwhile:
// - It visits an entry that stays in the index exactly once, even if reclaiming copies the entry to
//   another position after the walk has gathered it.
// - It misses an entry that reclaiming copies before the walk has gathered it.
// - It may or may not visit an entry that is added or erased meanwhile.
// To gather the next 65,536 entries, the walk looks at all entries of the index and locks one index
// shard at a time. It takes a few MiB of memory. For one thread at a time.
class Walk {
 public:
  struct Step {
    Key key;
    Location place;
  };

  // Visits only entries for which `wanted` returns true.
  Walk(const Index& index, std::function<bool(const Location&)> wanted);

  // The next entry; nothing at the end.
  std::optional<Step> next();

 private:
  static constexpr std::size_t kAhead = 65'536;

  struct Ahead {
    Key key;
    Position at;
  };

  static bool lies_before(const Ahead& a, const Ahead& b) { return a.at < b.at; }
  void gather();

  const Index& index_;
  const std::function<bool(const Location&)> wanted_;
  Position end_{};            // of the last entry when the walk began
  Position passed_{};         // entries up to here were gathered
  std::vector<Ahead> ahead_;  // gathered entries, in the order of the log
  std::size_t met_ = 0;       // how many of ahead_ were visited
};

}  // namespace proxy::cache::disk
