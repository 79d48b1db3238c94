// Parses message heads once and strictly (RFC 9112 2-5): a malformed head is refused, never
// repaired. This parser, not the one of the HTTP library, decides what a message means.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "proxy/http/fields.hpp"
#include "proxy/http/head_error.hpp"

namespace proxy::http {

struct HeadLimits {
  std::size_t bytes = 65536;  // of the whole head, including its empty line
  std::size_t fields = 200;   // field lines
};

// All text in the heads below is a view into the parsed bytes.
struct RequestHead {
  std::string_view method;
  std::string_view target;
  int minor = 1;  // HTTP/1.0: 0; HTTP/1.1 and later minor versions: 1
  Fields fields;

  // Whether the client wants the connection kept open (RFC 9112 9.3).
  bool keep_alive() const;
};

// The last status that has a class. One above, up to 999, counts as a server error (RFC 9110 15).
inline constexpr unsigned kLastStatus = 599;

// Begins the status line of a SHOUTcast server, in place of a version.
inline constexpr std::string_view kIcy = "ICY ";

struct ResponseHead {
  int minor = 1;
  unsigned status = 0;  // 100..999
  std::string_view reason;
  Fields fields;
  // The status line begins with kIcy. Such a response is otherwise like one of HTTP/1.0, and never
  // interim.
  bool icy = false;

  // Whether the server keeps the connection open, as far as its fields say, and sends no body where
  // none is expected.
  bool keep_alive() const;
  bool interim() const { return status < 200; }
};

// Returns the end of the head at the front of `buffer`: the position after CRLF CRLF, or after the
// first line that ends in a bare LF, which the parser then refuses. npos: more bytes are needed.
// `searched` is the number of bytes that earlier calls have seen, so that feeding a head byte by
// byte costs a single pass.
std::size_t find_head_end(std::string_view buffer, std::size_t searched = 0);

// `head` must end where find_head_end() says. Skips one empty line before the request line (RFC
// 9112 2.2), but no more.
HeadResult<RequestHead> parse_request_head(std::string_view head, const HeadLimits& limits = {});
// Parses into `into`, which spares a copy. After a failure, `into` has no meaning.
HeadResult<void> parse_request_head(std::string_view head, const HeadLimits& limits,
                                    RequestHead& into);

// Parses the head of a response. Folded lines are joined in place: each fold becomes spaces (RFC
// 9112 5.2). Therefore `head` is mutable. White space between a name and its colon is left out
// (5.1), but refused in Content-Length and in connection fields.
HeadResult<ResponseHead> parse_response_head(std::span<char> head, const HeadLimits& limits = {});
// Parses into `into`, which spares a copy. After a failure, `into` has no meaning.
HeadResult<void> parse_response_head(std::span<char> head, const HeadLimits& limits,
                                     ResponseHead& into);

// The parts of a stored response head that a cache needs at each hit.
struct StoredHead {
  unsigned status = 0;    // 100..999
  std::string_view date;  // the value of the first Date; empty if there is none
};
// Checks a response head without its empty line, however long. Accepts what parse_response_head()
// accepts with the empty line added, except folded lines and white space before a colon: the text
// of a stored head has neither. It makes no list of the fields, and so costs about two thirds of
// parse_response_head().
HeadResult<StoredHead> parse_stored_head(std::string_view head);

// Whether the method asks for no change at the origin. An unknown method counts as unsafe.
bool is_safe(std::string_view method);
// Whether a request sent twice has the effect of one. An unknown method counts as not idempotent.
bool is_idempotent(std::string_view method);

}  // namespace proxy::http
