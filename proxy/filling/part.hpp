// Parts: completing a stored one, cutting one to size, storing one (RFC 9111 3.3, 3.4).
#pragma once

#include "proxy/filling/incoming.hpp"
#include "proxy/filling/origin_answer.hpp"

namespace proxy {

// The answer brings the rest of the part that is held: writes both as one. `joined`: which bytes
// these are; see joined_with_held().
net::Task<void> write_completed(FillContext& context, Attempt rest, const OriginQuestion& asked,
                                http::ContentRange joined);

// What the range override brought, to be cut to the range that the client asked for.
enum class CutToSize : std::uint8_t {
  done,
  not_there,  // what the client asked for is not in it, or was not asked of this version
  failed,     // and so has the fill
};
net::Task<CutToSize> cut_to_size(FillContext& context, Incoming& incoming);

// Stores a part that came whole, with what else of its representation is held by now: whether
// anything is stored. `incoming`: the answer that brought it.
bool store_part(const FillContext& context, const Incoming& incoming,
                const std::shared_ptr<const cache::Entry>& part);

// Stores the bytes that came of a body that was cut, where more of the very same can be asked for.
void store_cut_body(const FillContext& context, const Incoming& incoming);

}  // namespace proxy
