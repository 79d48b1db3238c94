// The range to ask an origin for when nothing of the object is stored yet. Pure.
#pragma once

#include <optional>

#include "proxy/cache/judge.hpp"
#include "proxy/http/range.hpp"

namespace proxy {

// A range of fewer bytes is fetched as it is: a few bytes are not worth a block of 1 MiB.
inline constexpr std::uint64_t kWorthABlock = 64 * 1024;

// Returns the request's first range, extended to whole blocks: at most 2 MiB more than was asked
// for. The caller fetches further ranges once the blocks of the first one have arrived. `stored`:
// bytes at the beginning, in whole blocks, that are stored already. If the range begins within
// them, the result begins after them.
//
// Returns nothing if any range is short (kWorthABlock) or a suffix, or begins beyond the largest
// object. The caller must send the range without If-Range, because the answer to If-Range may lack
// most of its head (RFC 9110 15.3.7), and must check the answer's validator itself.
std::optional<http::AskedRange> aligned_to_blocks(const cache::RequestFacts& request,
                                                  std::uint64_t stored = 0);

}  // namespace proxy
