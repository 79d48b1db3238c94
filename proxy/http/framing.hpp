// How long a message body is, by RFC 9112 6.3 in its strictest reading: one clear statement or
// none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http/head.hpp"

namespace proxy::http {

struct Framing {
  enum class Kind : std::uint8_t {
    none,         // no body, and no field that says so
    sized,        // `length` bytes; 0 when Content-Length: 0 was sent
    chunked,      //
    until_close,  // responses only: the end of the connection ends it, so a cut cannot be told
  };
  Kind kind = Kind::none;
  std::uint64_t length = 0;  // bytes, of a sized body

  bool has_body() const { return kind != Kind::none && !(kind == Kind::sized && length == 0); }
  friend bool operator==(const Framing&, const Framing&) = default;
};

HeadResult<Framing> request_framing(const RequestHead& head);

// `request_method` is that of the request it answers. HEAD, 1xx, 204, 304 and a 2xx to CONNECT have
// no body (kind none) whatever their fields say; fields that are malformed are refused there as
// well, and so is a 1xx that says that it has a body.
HeadResult<Framing> response_framing(const ResponseHead& head, std::string_view request_method);

// Host as RFC 9112 3.2 wants it: exactly one and valid in HTTP/1.1; at most one and valid in 1.0.
HeadResult<void> check_host(const RequestHead& head);

// `Content-Length: n` or `Transfer-Encoding: chunked` with its CRLF, or nothing.
void append_framing(std::string& out, const Framing& framing);

}  // namespace proxy::http
