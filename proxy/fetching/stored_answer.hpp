// Writes answers whose body is stored already, as a whole or in part: after a 304, in place of an
// origin that failed, or before its rest. Cuts and stores parts (RFC 9111 3.3, 3.4).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

#include "proxy/cache/revalidation.hpp"
#include "proxy/fetching/context.hpp"
#include "proxy/fetching/origin_answer.hpp"

namespace proxy::fetching {

// `stored` with the fields of a 304 that validates it.
cache::Freshened freshened_by(const FillContext& context, const sources::Attempt& answer,
                              const cache::Entry& stored);
// For a 304 that validates `stored`: stores what freshened_by() returned, and answers with it.
void write_unmodified(FillContext& context, sources::Attempt& answer,
                      const cache::Ref<const cache::Entry>& stored, cache::Freshened freshened);

// For an origin's 304 about a response that only the client holds: passes the 304 on.
net::Task<void> write_clients_unmodified(FillContext& context, sources::Attempt answer,
                                         cache::Ref<const cache::Entry> stored);

// Answers with `stored` for an origin that failed, if `stored` may stand in (RFC 5861 4). If the
// job is a refresh, ends the fill, and changes nothing. `why`: for Cache-Status; `leave`: how stale
// the settings allow `stored` to be. Returns whether the fill has ended.
enum class StoodIn : std::uint8_t { yes, no };
StoodIn stand_in(FillContext& context, const sources::Attempt& failed,
                 const cache::Ref<const cache::Entry>& stored, std::string_view why,
                 std::chrono::seconds leave);

// Writes the stored part and its continuation `rest` as one body. `joined`: the bytes for the
// client; see joined_with_stored().
net::Task<void> write_completed(FillContext& context, sources::Attempt rest,
                                const OriginQuestion& asked, http::ContentRange joined);

// Whether an answer could be cut to the client's range.
enum class CutToSize : std::uint8_t {
  done,
  not_there,  // the answer lacks the client's range, its bytes were coded apart from the others, or
              // the client's If-Range names another version
};
// Leaves only the client's range of an answer to a longer one, which we requested in its place.
// Fails if reading the body fails. `idle`: the longest wait for the next bytes.
net::Task<upstream::Outcome<CutToSize>> cut_to_size(FillContext& context, Incoming& incoming,
                                                    std::chrono::milliseconds idle);

// Call this once a digest has verified a whole body. A guest need not be trusted for it if the URL
// names the digest. The guest's head proves nothing, so the response gets one that the digest
// proves.
void confirm_verified(const FillContext& context, Incoming& incoming);

// Stores a complete part, combined with a stored part of the same representation. Returns whether
// anything was stored. `incoming`: the answer that had the part.
net::Task<bool> store_part(const FillContext& context, const Incoming& incoming,
                           cache::Ref<const cache::Entry> part);

// Stores the received bytes of a cut body, if a strong validator allows the rest to be asked for.
net::Task<void> store_cut_body(const FillContext& context, const Incoming& incoming);

}  // namespace proxy::fetching
