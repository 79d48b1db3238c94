// Message heads, scanned once and strictly (RFC 9112 2-5): what is malformed is refused, never
// repaired. This scan, not the HTTP library's parser, decides what a message means.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "proxy/http/fields.hpp"
#include "proxy/http/head_error.hpp"

namespace proxy::http {

struct HeadLimits {
  std::size_t bytes = 65536;  // of the whole head, its empty line included
  std::size_t fields = 200;   // field lines
};

// All text in the heads below is a view into the bytes that were parsed.
struct RequestHead {
  std::string_view method;
  std::string_view target;
  int minor = 1;  // HTTP/1.0: 0; HTTP/1.1 and later minor versions: 1
  Fields fields;

  // Whether the client wants the connection kept (RFC 9112 9.3).
  bool keep_alive() const;
};

// Those above, up to 999, count as a server's error of no kind (RFC 9110 15).
inline constexpr unsigned kLastStatus = 599;

struct ResponseHead {
  int minor = 1;
  unsigned status = 0;  // 100..999
  std::string_view reason;
  Fields fields;

  // Whether the server keeps the connection, as far as its fields say.
  bool keep_alive() const;
  bool interim() const { return status < 200; }
};

// Where the head at the front of `buffer` ends: the position after CRLF CRLF, or after the first
// line that ends in a bare LF (such a head is malformed already; its parse says so, and nobody
// waits for its end). npos: more bytes are needed. `searched` is how many bytes an earlier call has
// seen, so that feeding a head byte by byte costs no more than once over it.
std::size_t find_head_end(std::string_view buffer, std::size_t searched = 0);

// `head` is exactly what find_head_end() delimits. One empty line before the request line is
// skipped (RFC 9112 2.2), no more.
HeadResult<RequestHead> parse_request_head(std::string_view head, const HeadLimits& limits = {});

// Likewise. Folded lines are joined in place, each fold becoming spaces (RFC 9112 5.2): hence
// mutable.
HeadResult<ResponseHead> parse_response_head(std::span<char> head, const HeadLimits& limits = {});

}  // namespace proxy::http
