// All that the index knows, one after the other in the order of the log.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "proxy/cache/disk/catalog/index.hpp"

namespace proxy::cache::disk {

// Goes up to where the log ended when it began. What is there all the time is met once, wherever it
// lies by then, unless its segment is reclaimed before the walk comes to it; of what comes or goes
// meanwhile, nobody knows. Holds some MiB of memory at most, and a lock of the index for as long as
// each_in() does; looks at all entries once for every 65,536 that it meets. For one thread at a
// time.
class Walk {
 public:
  struct Step {
    Key key;
    Location place;
  };

  // Meets only what is `wanted`.
  Walk(const Index& index, std::function<bool(const Location&)> wanted);

  // Nothing: that was all.
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
  Position end_{};     // the last that is looked for
  Position passed_{};  // all up to here were gathered
  std::vector<Ahead> ahead_;
  std::size_t met_ = 0;  // of those
};

}  // namespace proxy::cache::disk
