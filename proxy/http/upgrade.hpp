// Upgrade (RFC 9110 7.8). A connection through us may become a WebSocket (RFC 6455) and nothing
// else; other protocols are removed from requests that we forward. A server that switched to h2c,
// or to an invented protocol, would read further requests that we neither see nor check. Pure.
#pragma once

#include "proxy/http/framing.hpp"
#include "proxy/http/head.hpp"

namespace proxy::http {

inline constexpr std::string_view kWebSocket = "websocket";

// Whether this is a GET of HTTP/1.1 without a body whose Upgrade offers websocket and whose
// Connection names Upgrade. Any other Upgrade is ignored.
bool asks_for_websocket(const RequestHead& head, const Framing& framing);

// Whether the response to such a request is a 101 that names only websocket. After its empty line
// the connection is a WebSocket, whatever the 101 says of a body (RFC 9112 6.3).
bool becomes_websocket(const ResponseHead& answer);

}  // namespace proxy::http
