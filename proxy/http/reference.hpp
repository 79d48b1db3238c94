// URI references in response fields, such as Location (RFC 9110 10.2.2, RFC 3986 5).
#pragma once

#include <string_view>

#include "proxy/http/target.hpp"

namespace proxy::http {

// The target of a URI reference in a response to `base`: `reference` is an absolute URL or a
// relative one. Removes dot segments, drops the fragment and makes the URL canonical like every
// Target. An error if the result is not an http or https URL.
HeadResult<Target> resolve(const Target& base, std::string_view reference);

// Whether scheme, host and port are the same (RFC 9110 4.3.1).
bool same_origin(const Target& a, const Target& b);

}  // namespace proxy::http
