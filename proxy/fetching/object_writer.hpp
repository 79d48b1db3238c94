// Writes an answer that is kept in blocks: the object's entry, then a run of its blocks.
#pragma once

#include "proxy/fetching/incoming.hpp"

namespace proxy {

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

}  // namespace proxy
