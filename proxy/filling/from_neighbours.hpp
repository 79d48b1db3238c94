// The neighbours' part in a fill.
#pragma once

#include <cstdint>

#include "proxy/filling/context.hpp"

namespace proxy {

enum class Answered : std::uint8_t {
  yes,  // the fill has ended
  no,   // the origin is to be asked
};

// Asks the neighbours that claim the job's URL, one after the other, and writes the first answer
// that is of use. A neighbour that dies in the middle of it is replaced by the origin, unseen by
// the client where its answer cannot be resumed.
net::Task<Answered> fill_from_neighbours(FillContext& context);

}  // namespace proxy
