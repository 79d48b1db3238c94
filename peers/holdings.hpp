// What this cache holds, as the publisher needs to see it. The store implements it.
#pragma once

#include <chrono>
#include <vector>

#include "digest/key_change.hpp"

namespace peers {

// Wall time that never steps back.
using WallTime = std::chrono::system_clock::time_point;

using digest::Collected;
using digest::KeyChange;

// A key is held while a plain GET with only-if-cached would be answered by 200, now and for the
// next 5 s. Only 0 -> 1 (added) and 1 -> 0 (removed) of that are changes, so that they alternate
// per key. Called on the control thread only.
class Holdings {
 public:
  virtual ~Holdings() = default;

  // Appends what changed since the last collect() or list(), in order per key, with what has
  // expired by `now` among it.
  virtual Collected collect(WallTime now, std::vector<KeyChange>& changes) = 0;

  // Appends every key held, once, and forgets the changes that led there: whatever the next
  // collect() gives for a key comes after what the list says about it.
  virtual void list(WallTime now, std::vector<digest::Key>& keys) = 0;
};

}  // namespace peers
