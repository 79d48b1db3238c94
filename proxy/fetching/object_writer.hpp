// Writes an answer that is kept in blocks: the object's entry, then a run of its blocks.
#pragma once

#include "proxy/fetching/context.hpp"

namespace proxy::fetching {

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

// Stores the entry of the object whose blocks the answer has. Null: the answer is not kept in
// blocks, so another writer must write it. A guest's answer never is: blocks live on the disk. Nor
// is a part that lacks bytes of its first or last block, if the origin is asked only for the
// client's own `range`.
cache::Ref<const cache::Entry> begin_object(const FillContext& context, const Incoming& incoming,
                                            const std::optional<http::AskedRange>& range_override,
                                            RangeAsked range = RangeAsked::any);

// Publishes the object that begin_object() made, and writes the answer into its blocks, from which
// the fill's readers read. `idle`: the longest wait for the next bytes of the body. If the answer
// is cut, neighbours supply the rest, provided that the object has a strong validator; and the
// origin supplies what a sibling has cut and no other has.
net::Task<void> write_object(FillContext& context, Incoming incoming,
                             cache::Ref<const cache::Entry> object, std::chrono::milliseconds idle);

}  // namespace proxy::fetching
