// Parts: completing a stored one, cutting one to size, storing one (RFC 9111 3.3, 3.4).
#pragma once

#include "proxy/filling/incoming.hpp"
#include "proxy/filling/origin_answer.hpp"

namespace proxy {

// Writes the held part and `rest`, its continuation, as one body. `joined`: the bytes for the
// client; see joined_with_held().
net::Task<void> write_completed(FillContext& context, Attempt rest, const OriginQuestion& asked,
                                http::ContentRange joined);

// Cuts the answer to a range override to the range that the client asked for.
enum class CutToSize : std::uint8_t {
  done,
  not_there,  // the answer lacks the client's range, or the client's If-Range names another version
  failed,     // the body failed, and the fill with it
};
net::Task<CutToSize> cut_to_size(FillContext& context, Incoming& incoming);

// Stores a part that arrived whole, combined with a held part of the same representation. Returns
// whether anything was stored. `incoming`: the part's answer.
bool store_part(const FillContext& context, const Incoming& incoming,
                const std::shared_ptr<const cache::Entry>& part);

// Stores the received bytes of a cut body, if a strong validator allows the rest to be asked for.
void store_cut_body(const FillContext& context, const Incoming& incoming);

}  // namespace proxy
