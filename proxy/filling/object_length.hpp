// Which responses are kept in blocks. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/cache/entry.hpp"
#include "proxy/cache/policy.hpp"
#include "proxy/http/range.hpp"

namespace proxy {

// The length of the object whose blocks this answer brings; nothing where the answer is not to be
// kept in blocks. `length`: of its body, where it is told. `large_from`: see tiers.hpp.
//
// A 200 is kept in blocks if it is large. A part is, if it promises all its bytes, names a strong
// validator and the complete length, and covers a whole block: the blocks around the client's range
// that were asked for, or a large part that nobody knew to ask for in blocks. That one is worth the
// block that it lacks at its beginning.
std::optional<std::uint64_t> object_length(const cache::Entry& answer,
                                           std::optional<std::uint64_t> length,
                                           const cache::RequestFacts& request,
                                           const std::optional<http::AskedRange>& range_override,
                                           std::uint64_t large_from);

}  // namespace proxy
