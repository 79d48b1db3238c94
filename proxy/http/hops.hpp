// Requests that may end at a proxy on their way: OPTIONS and TRACE with Max-Forwards (RFC 9110
// 7.6.2), and what TRACE may show (9.3.8). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "proxy/http/framing.hpp"
#include "proxy/http/head.hpp"
#include "proxy/http/target.hpp"

namespace proxy::http {

// Refuses a Max-Forwards that is not one decimal number, where it counts; TRACE with a body; and
// TRACE that would take credentials or cookies to a server which shows them to whoever reads its
// answer (no client may send such, and no proxy may take an Authorization out).
HeadResult<void> check_hops(const RequestHead& head, const Framing& framing);

// How often an OPTIONS or TRACE that passed check_hops() may still be forwarded; nothing where it
// does not say, and for other methods, whose Max-Forwards is passed on as it came. More than 2^32
// counts as 2^32.
std::optional<std::uint64_t> hops_left(const RequestHead& head);

// What the last one on the way answers to TRACE, as message/http: the head as it arrived, without
// userinfo and without fields whose names tell of something secret.
std::string traced(const RequestHead& head, const Target& target);

}  // namespace proxy::http
