// What a miss asks for, whether it asks siblings, and whether others may share the answer. Reads
// only the disk's rules of admission.
#pragma once

#include <optional>

#include "proxy/http/range.hpp"
#include "proxy/lookup/lookup.hpp"

namespace proxy {

// Whether other requests may wait for this request's fill, and this request for theirs. A request
// for a part may share if whole blocks may be fetched and the request has no If-Range. A request
// with no-cache shares only an answer for which the origin is asked after its arrival.
bool may_share(const FetchAccess& access, const Request& request, const Lookup& lookup);

// Whether the verdict leaves the answer to siblings: a plain GET with only-if-cached would do, for
// the whole response or for one part. What is stored here may be stale: a sibling may have a
// fresher copy, or know that it is still current. may_ask_neighbours() says whether siblings may be
// asked at all.
bool sibling_may_answer(const Request& request, const cache::Verdict& verdict);

// Whether siblings are asked: they may be, and they may answer what the verdict asks for.
bool asks_siblings(const FetchAccess& access, const Request& request, const Lookup& lookup,
                   const cache::Verdict& verdict);

// Whether no other range than the client's is asked for: the request signs its range, its answer is
// probably not stored because of its credentials, its origin refuses other ranges, or another range
// was of no use to it.
bool asks_as_it_came(const FetchAccess& access, const Request& request, const Lookup& lookup);

// The range to ask for in place of the client's: that of the blocks around it, or the same range.
// It is sent without If-Range, because the answer to If-Range may lack most of its head (RFC 9110
// 15.3.7). Nothing: ask for what the client asks for.
std::optional<http::AskedRange> range_override(const FetchAccess& access, const Request& request,
                                               const Lookup& lookup);

// As range_override(), for siblings. They end a range where the object ends, so they may be asked
// for whole blocks even if its length is unknown.
std::optional<http::AskedRange> sibling_range(const FetchAccess& access, const Request& request,
                                              const Lookup& lookup);

}  // namespace proxy
