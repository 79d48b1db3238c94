// Neighbours' responses that are passed on unstored, because the neighbour has them close at hand.
#pragma once

#include "proxy/fetching/incoming.hpp"

namespace proxy {

// Whether the answer, which may be stored, is to be left with the neighbour that gave it: see
// Placement::leaves_there().
bool is_left_there(const FillContext& context, const Incoming& incoming);

// Whether our clients have requested the URL before: then what they got may have been left with a
// neighbour, where it has grown stale.
bool was_left_there(const FillContext& context);

}  // namespace proxy
