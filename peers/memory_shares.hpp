// How the peers share digest.peer_memory. Pure.
//
// Each of n peers has a share of an n-th, in which its digest always finds room. A digest may take
// more while the others leave it; when another peer needs its share, the largest digest goes. So a
// peer that sends as much as it can takes no share but its own.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace peers {

// Bytes of filter that each peer keeps, by its place in the list of peers.
using KeptBytes = std::span<const std::size_t>;

// The share of each peer, in bytes. `peers` may be 0.
std::size_t share_of_each(std::size_t limit, std::size_t peers);

// Bytes that the filter of a new digest of this peer may have: its share, or what the others leave
// of the limit. The peer's old digest counts as free, since the new one replaces it.
std::size_t room_for(KeptBytes kept, std::size_t peer, std::size_t limit);

// The peer whose digest has to go because all together exceed the limit; nothing if they do not.
// Never `newest`, the peer whose digest has just been kept within room_for().
std::optional<std::size_t> to_give_way(KeptBytes kept, std::size_t newest, std::size_t limit);

}  // namespace peers
