// The claims that this cache may make, for the publisher. The store implements it.
#pragma once

#include <chrono>
#include <vector>

#include "digest/rule.hpp"

namespace peers {

// Wall time that never steps back.
using WallTime = std::chrono::system_clock::time_point;

using digest::Collected;
using digest::KeyChange;

// A key is held while a plain GET with only-if-cached would be answered by 200, now and for the
// next 5 s; it is held by a rule while it would be if the question named this rule
// (digest/rule.hpp). A change is a claim that begins (added) or ends (removed), so the two
// alternate per claim. Called on the control thread only.
class Holdings {
 public:
  virtual ~Holdings() = default;

  // Appends the changes since the last collect() or list(), in order per claim. A claim
  // that has expired by `now` is among the changes.
  virtual Collected collect(WallTime now, std::vector<KeyChange>& changes) = 0;

  // Appends every claim once, and discards the changes recorded so far: the next collect()
  // returns only changes after this list.
  virtual void list(WallTime now, std::vector<digest::Claim>& claims) = 0;
};

}  // namespace peers
