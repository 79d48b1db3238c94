// Neighbours' responses that are passed on unstored, because the neighbour has them close at hand.
#pragma once

#include "proxy/fetching/incoming.hpp"

namespace proxy {

// Whether the answer, which may be stored, is to be left with the neighbour that gave it: a sibling
// that is near (is_near()), of which Placement does not store it yet. Never if something is stored
// that the answer validates or replaces, nor for a long part: its client needs the rest of the part
// if the neighbour fails, and only a stored object has that supplied. Counts the requests anew if
// the answer is to be stored.
bool is_left_there(const FillContext& context, const Incoming& incoming);

// Whether our clients have requested the URL before: then what they got may have been left with a
// neighbour, where it has grown stale.
bool was_left_there(const FillContext& context);

}  // namespace proxy
