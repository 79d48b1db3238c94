// Which responses are kept in blocks. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/cache/entry.hpp"
#include "proxy/cache/judge.hpp"
#include "proxy/http/range.hpp"

namespace proxy {

// Returns the length of the object whose blocks this answer has; nothing if the answer is not kept
// in blocks. `length`: of the answer's body, if known. `large_from`: see tiers/object_blocks.hpp.
//
// A 200 is kept in blocks if it is large. A part is kept in blocks if it promises all its bytes,
// names a strong validator and the complete length, and covers a whole block. The part must also be
// the answer to the range override, or a large part for a request that found no stored object. Such
// a large part may lack the beginning of its first block; that block is then fetched again.
std::optional<std::uint64_t> object_length(const cache::Entry& answer,
                                           std::optional<std::uint64_t> length,
                                           const cache::RequestFacts& request,
                                           const std::optional<http::AskedRange>& range_override,
                                           std::uint64_t large_from);

}  // namespace proxy
