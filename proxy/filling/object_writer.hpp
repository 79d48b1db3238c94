// Writes an answer that is kept in blocks: the object's entry, then a run of its blocks.
#pragma once

#include "proxy/filling/incoming.hpp"

namespace proxy {

// Stores the entry of the object whose blocks the answer brings. Null: the answer is not kept in
// blocks, or cannot be, and another writer has to take it.
std::shared_ptr<const cache::Entry> begin_object(
    const FillContext& context, const Incoming& incoming,
    const std::optional<http::AskedRange>& range_override);

// Publishes the object, which begin_object() made, and pours the answer into its blocks; the fill's
// readers read these. The origin brings what a sibling's answer was too short for.
net::Task<void> write_object(FillContext& context, Incoming incoming,
                             std::shared_ptr<const cache::Entry> object);

// How long the next bytes of a body may take, by its source.
std::chrono::milliseconds body_idle(const FillContext& context, const Attempt& attempt);

}  // namespace proxy
