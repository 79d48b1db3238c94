// Visits all entries of the index in the order of the log.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "proxy/cache/disk/catalog/index.hpp"

namespace proxy::cache::disk {

// Ends where the log ended when the walk began. Meets each entry once that is there all the time,
// also if it was copied meanwhile, unless its segment is reclaimed before the walk comes to it.
// Entries that are added or erased meanwhile may be met or not. Takes some MiB of memory at most.
// Looks at all entries once for every 65,536 that it meets, one index shard's lock at a time. For
// one thread at a time.
class Walk {
 public:
  struct Step {
    Key key;
    Location place;
  };

  // Meets only entries that are `wanted`.
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
  Position end_{};     // of the last entry
  Position passed_{};  // entries up to here were gathered
  std::vector<Ahead> ahead_;
  std::size_t met_ = 0;  // of ahead_
};

}  // namespace proxy::cache::disk
