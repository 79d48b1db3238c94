// Whether an honest neighbour is still asked after many of its claims were false for good reasons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/bench/faults/open_loop.hpp"

namespace bench {

// Why the neighbour cannot answer half of the requests whose URLs it claims.
enum class Excuse {
  evictions,  // it stores new responses meanwhile, and evicts what it has claimed
  variants,   // it holds another variant (Vary)
  age,        // the client wants a response that is younger (Cache-Control: max-age)
};

struct Honest {
  Figures figures;
  std::size_t could = 0;      // requests that the neighbour could have answered
  std::size_t lost = 0;       // those of them that it did not answer
  std::uint64_t outruns = 0;  // answers of the neighbour before which another source had answered
  // As in /digest: how often the neighbour was rested for which reason, and its false hits by
  // cause.
  std::string rests;
  std::string causes;
};

// Asks for 2 * `answerable` URLs that the neighbour claims, each once. It could answer about half.
Honest measure_honest(Excuse excuse, std::size_t answerable);

}  // namespace bench
