// What clients get if the source of a large body is killed in the middle of it.
#pragma once

#include <cstddef>

#include "tests/bench/faults/answers.hpp"

namespace bench {

struct Killing {
  // Of a sibling, while the origin works. Of the origin, while a sibling holds the response.
  enum class Victim { sibling, origin } victim = Victim::sibling;
  Validator validator = Validator::strong;
  bool disk = false;         // both proxies have one
  std::size_t objects = 10;  // one after the other; the victim is killed in each
};

// How so many requests ended.
struct Tries {
  std::size_t whole = 0;
  std::size_t cut = 0;    // or failed
  std::size_t wrong = 0;  // whole, but another body
};

struct Killed {
  Tries first;
  Tries retry;  // of each object, after the first try has ended
  // First tries that the kill did not hit: they asked another source, or had ended.
  std::size_t untouched = 0;
};

// Each object has 50 MB. The proxies are real; the origin is played.
Killed measure_killed(const Killing& killing);

}  // namespace bench
