// What is asked for when a part is wanted of an object whose length is not known. Pure.
#pragma once

#include <optional>

#include "proxy/cache/policy.hpp"
#include "proxy/http/range.hpp"

namespace proxy {

// For less than this the origin is asked for just that: nobody pays for a MiB to get a few bytes.
inline constexpr std::uint64_t kWorthABlock = 64 * 1024;

// The blocks around the range, so that what comes is whole blocks: at most 2 MiB more than is
// asked for. Of several ranges the first one's: once they come, the others' blocks are asked for
// too. Nothing where one is too little or a suffix, or begins where no object reaches. It is asked
// for without If-Range, as what answers that may lack most of its head (RFC 9110 15.3.7): whether
// it is met, what comes has to tell. Of what begins within the `held` first bytes, which are whole
// blocks, just those after them.
std::optional<http::AskedRange> aligned_to_blocks(const cache::RequestFacts& request,
                                                  std::uint64_t held = 0);

}  // namespace proxy
