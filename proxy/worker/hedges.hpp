// How many second questions one thread may ask while a neighbour's answer is still awaited.
#pragma once

#include <algorithm>

namespace proxy {

// A share of the requests that ask neighbours, so that slow neighbours cannot double the load of
// the others and of the origins. What is not used is kept for a burst. Not thread-safe.
class Hedges {
 public:
  static constexpr double kShare = 0.2;
  static constexpr double kBurst = 20;

  // A request asks a neighbour.
  void earn() { left_ = std::min(left_ + kShare, kBurst); }
  // Whether another question may be asked now; if so, it counts.
  [[nodiscard]] bool take() {
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  double left_ = kBurst;
};

}  // namespace proxy
