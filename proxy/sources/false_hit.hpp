// Why a sibling that claimed a URL did not have it, as far as its answer tells. Pure.
#pragma once

#include "peers/accuracy.hpp"
#include "proxy/http/head.hpp"

namespace proxy {

// Of an answer to only-if-cached that says no. A Hearsay says all of it in Cache-Status (`fwd`, and
// "gone" or "refused" in `detail`); so does, but for what is gone, any cache that keeps to RFC
// 9211. Squid 6 and later say there what they looked up ("match", "mismatch", "no-cache"), and
// Squid 5 says in X-Cache-Lookup whether it found the URL; neither knows what has left it. In
// X-Squid-Error each says if it was about something else.
peers::FalseHit cause_of(const http::ResponseHead& answer);

}  // namespace proxy
