// URI references in response fields, such as Location (RFC 9110 10.2.2, RFC 3986 5).
#pragma once

#include <string_view>

#include "proxy/http/target.hpp"

namespace proxy::http {

// What `reference` means in an answer to `base`: an absolute URL or a relative one, dot segments
// removed, the fragment dropped, then canonical as every Target is. An error for what is no http
// or https URL.
HeadResult<Target> resolve(const Target& base, std::string_view reference);

// RFC 9110 4.3.1: the same scheme, host and port.
bool same_origin(const Target& a, const Target& b);

}  // namespace proxy::http
