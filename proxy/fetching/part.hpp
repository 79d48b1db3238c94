// Completes a stored part, cuts a part to the client's range, stores a part (RFC 9111 3.3, 3.4).
#pragma once

#include "proxy/fetching/incoming.hpp"
#include "proxy/fetching/origin_answer.hpp"

namespace proxy {

// Writes the stored part and its continuation `rest` as one body. `joined`: the bytes for the
// client; see joined_with_stored().
net::Task<void> write_completed(FillContext& context, Attempt rest, const OriginQuestion& asked,
                                http::ContentRange joined);

// Cuts the answer to a range override to the range that the client asked for. Fails if the body
// does. `idle`: the longest wait for the next bytes.
enum class CutToSize : std::uint8_t {
  done,
  not_there,  // the answer lacks the client's range, its bytes were coded apart from the others, or
              // the client's If-Range names another version
};
net::Task<Outcome<CutToSize>> cut_to_size(FillContext& context, Incoming& incoming,
                                          std::chrono::milliseconds idle);

// Stores a complete part, combined with a stored part of the same representation. Returns whether
// anything was stored. `incoming`: the answer that had the part.
bool store_part(const FillContext& context, const Incoming& incoming,
                const cache::Ref<const cache::Entry>& part);

// Stores the received bytes of a cut body, if a strong validator allows the rest to be asked for.
void store_cut_body(const FillContext& context, const Incoming& incoming);

}  // namespace proxy
