// The neighbours' part in a fill.
#pragma once

#include <cstdint>

#include "proxy/fetching/context.hpp"

namespace proxy {

enum class Answered : std::uint8_t {
  yes,  // the fill has ended
  no,   // the origin has to be asked
};

// Asks the neighbours that claim the job's URL, one after the other, and writes the first useful
// answer. If that answer is cut, the origin supplies the rest. An answer that could not be resumed
// is held back until it is whole; if it is cut, the origin is asked for all of it. The client
// notices neither.
net::Task<Answered> fill_from_neighbours(FillContext& context);

}  // namespace proxy
