// Who gave a response, as far as trust in it matters. Pure.
#pragma once

#include "proxy/cache/disk/format/format.hpp"

namespace proxy::cache {

using disk::GiverTag;

// The origin gave the response, or has confirmed it by a 304, unless there is a tag.
struct Giver {
  GiverTag tag = 0;  // of a neighbour (peers::Peer::tag)

  bool operator==(const Giver&) const = default;
};

// Whether bytes of both may be joined into one response: it has only one giver.
constexpr bool may_join(const Giver& a, const Giver& b) {
  return a.tag == 0 || b.tag == 0 || a.tag == b.tag;
}
// The giver of the joined response: the neighbour, if one of the two is a neighbour.
constexpr Giver giver_of_both(const Giver& a, const Giver& b) {
  return a.tag == 0 ? b : a;
}

}  // namespace proxy::cache
