// The range to ask an origin for, of an object of which nothing is stored yet. Pure.
#pragma once

#include <optional>

#include "proxy/cache/policy.hpp"
#include "proxy/http/range.hpp"

namespace proxy {

// A range of fewer bytes is fetched as it is: a MiB is too much to pay for a few bytes.
inline constexpr std::uint64_t kWorthABlock = 64 * 1024;

// The request's first range, extended to whole blocks: at most 2 MiB more than was asked for.
// Further ranges are fetched once the first one's blocks have arrived. If the range begins within
// the first `stored` bytes, which are whole blocks, only the blocks after them.
//
// Nothing if any range is short (kWorthABlock) or a suffix, or begins where no object reaches. The
// caller sends the range without If-Range, as the answer to that may lack most of its head (RFC
// 9110 15.3.7), and checks the validator of the answer itself.
std::optional<http::AskedRange> aligned_to_blocks(const cache::RequestFacts& request,
                                                  std::uint64_t stored = 0);

}  // namespace proxy
