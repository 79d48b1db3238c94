// Requests that may end at a proxy: OPTIONS and TRACE with Max-Forwards (RFC 9110 7.6.2), and what
// the response to TRACE may show (9.3.8). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "proxy/http/framing.hpp"
#include "proxy/http/head.hpp"
#include "proxy/http/target.hpp"

namespace proxy::http {

// For OPTIONS and TRACE: refuses a Max-Forwards that is not one decimal number. For TRACE: refuses
// a body, and refuses credentials and cookies, because the server would show them to anybody who
// reads its response (no client may send such a request, and no proxy may remove an Authorization).
// These two refusals ignore the case of the method.
HeadResult<void> check_hops(const RequestHead& head, const Framing& framing);

// How many more times an OPTIONS or TRACE that passed check_hops() may be forwarded, at most 2^32.
// Returns nothing if the request has no Max-Forwards, and for other methods, whose Max-Forwards is
// forwarded unchanged.
std::optional<std::uint64_t> hops_left(const RequestHead& head);

// The body (message/http) with which the final recipient answers TRACE: the head as received,
// without userinfo and without fields whose names suggest a secret.
std::string traced(const RequestHead& head, const Target& target);

}  // namespace proxy::http
