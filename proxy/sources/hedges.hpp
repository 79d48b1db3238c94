// How many second questions one thread may ask while the answer of a neighbour or a parent is still
// awaited.
#pragma once

#include <algorithm>

#include "proxy/observe/count.hpp"

namespace proxy {

// A share of the requests that ask neighbours or parents, so that slow neighbours cannot double the
// load of the others and of the origins. What is not used is kept for a burst. Not thread-safe.
class Hedges {
 public:
  // `taken` (or null) counts the second questions.
  explicit Hedges(Count* taken = nullptr) : taken_(taken) {}

  static constexpr double kShare = 0.2;
  static constexpr double kBurst = 20;

  // A request asks a neighbour, or by a route with a parent.
  void earn() { left_ = std::min(left_ + kShare, kBurst); }
  // Whether another question may be asked now; if so, it counts.
  [[nodiscard]] bool take() {
    if (left_ < 1) return false;
    left_ -= 1;
    if (taken_) taken_->add();
    return true;
  }

 private:
  Count* const taken_;
  double left_ = kBurst;
};

}  // namespace proxy
