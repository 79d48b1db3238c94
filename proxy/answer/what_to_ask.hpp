// What a miss asks for, of whom, and who may share what comes. Pure but for the disk's rules.
#pragma once

#include <optional>

#include "proxy/answer/lookup.hpp"
#include "proxy/http/range.hpp"

namespace proxy {

// Whether other requests may wait for what this one fetches, and this one for what others fetch. Of
// a part: if it may be fetched in whole blocks, and the client set no condition on it.
bool may_share(const Process& process, const Request& request, const Lookup& lookup);

// Whether a sibling may answer: only what a plain GET with only-if-cached would get, or one part of
// it.
bool sibling_may_answer(const Request& request, const cache::Verdict& verdict);

// The range to ask for in place of the client's: that of the blocks around it; or the same without
// its If-Range, since the answer to that condition may lack most of its head (RFC 9110 15.3.7).
// Nothing: ask for what the client asks for.
std::optional<http::AskedRange> range_override(const Process& process, const Request& request,
                                               const Lookup& lookup);

}  // namespace proxy
