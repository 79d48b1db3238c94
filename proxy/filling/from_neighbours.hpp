// The neighbours' part in a fill.
#pragma once

#include <cstdint>

#include "proxy/filling/context.hpp"

namespace proxy {

enum class Answered : std::uint8_t {
  yes,  // the fill has ended
  no,   // the origin has to be asked
};

// Asks the neighbours that claim the job's URL, one after the other, and writes the first useful
// answer. If a neighbour fails within its answer, the origin supplies the rest, or the whole of an
// answer that was held back because it could not be resumed: the client sees neither.
net::Task<Answered> fill_from_neighbours(FillContext& context);

}  // namespace proxy
