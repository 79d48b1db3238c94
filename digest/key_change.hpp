// How the set of keys that a digest describes changes.
#pragma once

#include <cstdint>

#include "digest/key.hpp"

namespace digest {

// A key entered the set or left it. The changes of one key alternate: a key in the set is not added
// again, and a key outside is not removed.
struct KeyChange {
  enum class What : std::uint8_t { added, removed };

  Key key;
  What what;

  bool operator==(const KeyChange&) const = default;
};

// Whether a reader of changes received all of them since its last reading.
enum class Collected : std::uint8_t {
  complete,
  overflowed,  // some were lost: read the whole set instead
};

}  // namespace digest
