// Writes an answer that is kept in blocks: the object's entry, then a run of its blocks.
#pragma once

#include "proxy/fetching/incoming.hpp"

namespace proxy {

// Stores the entry of the object whose blocks the answer has. Null: the answer is not kept in
// blocks, so another writer must write it. A guest's answer never is: blocks live on the disk.
std::shared_ptr<const cache::Entry> begin_object(
    const FillContext& context, const Incoming& incoming,
    const std::optional<http::AskedRange>& range_override);

// Publishes the object that begin_object() made, and writes the answer into its blocks, from which
// the fill's readers read. If a sibling's answer is cut, the origin supplies the rest, provided
// that the object has a strong validator.
net::Task<void> write_object(FillContext& context, Incoming incoming,
                             std::shared_ptr<const cache::Entry> object);

// The longest wait for the next bytes of a body, by its source.
std::chrono::milliseconds body_idle(const FillContext& context, const Attempt& attempt);

}  // namespace proxy
