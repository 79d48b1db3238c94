// The length of a message body by the strictest reading of RFC 9112 6.3: one clear statement, or
// none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http/head.hpp"
#include "proxy/http/piece_writer.hpp"
#include "proxy/http/target.hpp"

namespace proxy::http {

struct Framing {
  enum class Kind : std::uint8_t {
    none,         // no body, and no field that states a length
    sized,        // `length` bytes; 0 if Content-Length: 0 was sent
    chunked,      //
    until_close,  // responses only: ends with the connection, so truncation cannot be detected
  };
  Kind kind = Kind::none;
  std::uint64_t length = 0;  // bytes, if `sized`

  bool has_body() const { return kind != Kind::none && !(kind == Kind::sized && length == 0); }
  friend bool operator==(const Framing&, const Framing&) = default;
};

HeadResult<Framing> request_framing(const RequestHead& head);

// `request_method` is the method of the request that was answered. A response to HEAD, a 1xx, a
// 204, a 304 and a 2xx to CONNECT have no body (kind none), whatever their fields say. Malformed
// fields are refused all the same, except in a 1xx, whose fields never frame it (RFC 9112 6.3).
HeadResult<Framing> response_framing(const ResponseHead& head, std::string_view request_method);

// Checks Host as RFC 9112 3.2 requires: HTTP/1.1 has exactly one, HTTP/1.0 at most one, and it is
// valid. `target`: the parsed target of the head.
HeadResult<void> check_host(const RequestHead& head, const Target& target);

// Writes `Content-Length: n` or `Transfer-Encoding: chunked` with its CRLF, or nothing.
void write_framing(PieceWriter& out, const Framing& framing);

}  // namespace proxy::http
