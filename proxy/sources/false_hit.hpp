// Why a sibling did not have a URL that its digest claimed, as far as its answer tells. Pure.
#pragma once

#include <string_view>

#include "peers/accuracy.hpp"
#include "proxy/http/head.hpp"

namespace proxy {

// The cause of a negative answer to only-if-cached. A Hearsay tells every cause in Cache-Status:
// `fwd`, and "gone", "unknown" or "refused" in `detail`. Any cache that follows RFC 9211 tells the
// causes that have a `fwd`.
// Squid 6 and later give the result of the look-up there ("match", "mismatch", "no-cache"). Squid 5
// tells in X-Cache-Lookup whether it found the URL. No Squid tells that a response has left its
// store. In X-Squid-Error every Squid names an error other than the miss.
peers::FalseHit cause_of(const http::ResponseHead& answer);

// Whether the answer says that the sibling holds the response, but not the bytes that were asked
// for (RFC 9211 2.2: fwd=partial).
bool holds_other_parts(const http::ResponseHead& answer);

// The detail with which a Hearsay refuses a client that is not in its access.clients. To a question
// of a neighbour it adds "refused/" in front.
inline constexpr std::string_view kNotAClient = "denied/access.clients";
// Whether the answer says that the sibling serves nothing to us, whatever we ask for: by the detail
// of a Hearsay, or by a Squid's page.
bool refuses_us(const http::ResponseHead& answer);

}  // namespace proxy
