// Upgrade (RFC 9110 7.8). A connection that goes through us may become a WebSocket (RFC 6455) and
// nothing else: every other protocol is left out of what we forward. A server that took up h2c, or
// one made up, would read requests after the first that we neither see nor judge. Pure.
#pragma once

#include "proxy/http/framing.hpp"
#include "proxy/http/head.hpp"

namespace proxy::http {

inline constexpr std::string_view kWebSocket = "websocket";

// A GET of HTTP/1.1 without a body, with websocket among what its Upgrade offers, and Connection
// naming that field. Any other Upgrade is as good as none.
bool asks_for_websocket(const RequestHead& head, const Framing& framing);

// Whether an answer to such a request is a 101 that names websocket alone, and no body: from its
// empty line on the connection is one.
bool becomes_websocket(const ResponseHead& answer);

}  // namespace proxy::http
