// Which responses are kept in blocks. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/cache/entry.hpp"
#include "proxy/cache/policy.hpp"
#include "proxy/http/range.hpp"

namespace proxy {

// The length of the object whose blocks this answer has; nothing if the answer is not kept in
// blocks. `length`: of the answer's body, if known. `large_from`: see tiers/object_blocks.hpp.
//
// A 200 is kept in blocks if it is large. A part is kept in blocks if it promises all its bytes,
// names a strong validator and the complete length, and covers a whole block. Besides, it must be
// the range override, or a large part whose request did not know of the object. Such a large part
// may lack the beginning of its first block, which is then fetched again.
std::optional<std::uint64_t> object_length(const cache::Entry& answer,
                                           std::optional<std::uint64_t> length,
                                           const cache::RequestFacts& request,
                                           const std::optional<http::AskedRange>& range_override,
                                           std::uint64_t large_from);

}  // namespace proxy
