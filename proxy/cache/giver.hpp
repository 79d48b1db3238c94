// Who gave a response, as far as trust in it matters. Pure.
#pragma once

#include <chrono>

#include "proxy/cache/disk/format.hpp"

namespace proxy::cache {

using disk::GiverTag;

// For how long after its arrival a guest's response counts as fresh, whatever it says.
inline constexpr std::chrono::seconds kGuestFresh = std::chrono::hours(1);

// The origin gave the response, or has confirmed it by a 304, unless there is a tag.
struct Giver {
  GiverTag tag = 0;    // of a neighbour (peers::Peer::tag)
  bool guest = false;  // the neighbour is a guest (config::Trust)

  bool operator==(const Giver&) const = default;
};

// Whether bytes of both may be joined into one response: it has only one giver. A guest's bytes are
// joined with no others, because a 304 about the others would confirm them, too.
constexpr bool may_join(const Giver& a, const Giver& b) {
  if (a.guest || b.guest) return false;
  return a.tag == 0 || b.tag == 0 || a.tag == b.tag;
}
// The giver of the joined response: the neighbour, if one of the two is a neighbour.
constexpr Giver giver_of_both(const Giver& a, const Giver& b) {
  return a.tag == 0 ? b : a;
}

}  // namespace proxy::cache
