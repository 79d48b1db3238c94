// How the set of claims that a digest describes changes.
#pragma once

#include <cstdint>

#include "digest/rule.hpp"

namespace digest {

// A claim entered the set or left it. The changes of one claim alternate: a claim in the set is not
// added again, and a claim outside is not removed.
struct KeyChange {
  enum class What : std::uint8_t { added, removed };

  Key key;
  What what;
  RuleMark rule = 0;  // of the claim

  Claim claim() const { return {key, rule}; }
  bool operator==(const KeyChange&) const = default;
};

// Whether a reader of changes received all of them since its last reading.
enum class Collected : std::uint8_t {
  complete,
  overflowed,  // some were lost: read the whole set instead
};

}  // namespace digest
