// The range to ask an origin for when the client's range is not stored. Pure.
#pragma once

#include <optional>

#include "proxy/cache/judge.hpp"
#include "proxy/http/range.hpp"

namespace proxy {

// A range of fewer bytes is fetched as it is: a few bytes are not worth a block of 1 MiB.
inline constexpr std::uint64_t kWorthABlock = 64 * 1024;

// What is known of an object before it is asked for.
struct KnownObject {
  std::uint64_t stored = 0;  // bytes at the beginning, in whole blocks, that are stored already
  std::optional<std::uint64_t> length;  // as the stored response tells it; none: unknown
};

// Returns the request's first range, extended to whole blocks: at most 2 MiB more than was asked
// for, and nothing behind the known end, because not every origin shortens such a range. If the
// range begins within the stored bytes, the result begins after them. The caller fetches further
// ranges once the blocks of the first one have arrived.
//
// Without a known length, the end of the range is the client's, and its beginning, too, unless the
// range goes to the end of the object. The result then has at least one whole block.
//
// Returns nothing if any range is short (kWorthABlock) or a suffix, if the first one begins beyond
// the known end or the largest object, or if the request signs its range. The caller must send the
// range without If-Range, because the answer to If-Range may lack most of its head (RFC 9110
// 15.3.7), and must check the answer's validator itself.
std::optional<http::AskedRange> aligned_to_blocks(const cache::RequestFacts& request,
                                                  const KnownObject& known = {});

}  // namespace proxy
