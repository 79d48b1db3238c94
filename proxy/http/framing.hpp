// What a head says beyond its syntax: the length of the body by the strictest reading of RFC 9112
// 6.3, the host, the hops left, and a change to WebSocket. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/head.hpp"
#include "proxy/http/target.hpp"
#include "proxy/http/text.hpp"

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

// OPTIONS and TRACE may end at a proxy (RFC 9110 7.6.2). For both: refuses a Max-Forwards that is
// not one decimal number. For TRACE: refuses a body, and refuses credentials and cookies, because
// the server would show them to anybody who reads its response (no client may send such a request,
// and no proxy may remove an Authorization). These two refusals ignore the case of the method.
HeadResult<void> check_hops(const RequestHead& head, const Framing& framing);

// How many more times an OPTIONS or TRACE that passed check_hops() may be forwarded, at most 2^32.
// Returns nothing if the request has no Max-Forwards, and for other methods, whose Max-Forwards is
// forwarded unchanged.
std::optional<std::uint64_t> hops_left(const RequestHead& head);

// The body (message/http) with which the final recipient answers TRACE: the head as received,
// without userinfo and without fields whose names suggest a secret.
std::string traced(const RequestHead& head, const Target& target);

// Upgrade (RFC 9110 7.8). A connection through us may become a WebSocket (RFC 6455) and nothing
// else; other protocols are removed from requests that we forward. A server that switched to h2c,
// or to an invented protocol, would read further requests that we neither see nor check.
inline constexpr std::string_view kWebSocket = "websocket";

// Whether this is a GET of HTTP/1.1 without a body whose Upgrade offers websocket and whose
// Connection names Upgrade. Any other Upgrade is ignored.
bool asks_for_websocket(const RequestHead& head, const Framing& framing);

// Whether the response to such a request is a 101 that names only websocket. After its empty line
// the connection is a WebSocket, whatever the 101 says of a body (RFC 9112 6.3).
bool becomes_websocket(const ResponseHead& answer);

// The chunked transfer coding (RFC 9112 7.1), read incrementally and without copying the body.
// Decodes input and returns slices of the same memory. Extensions and trailers are bounded, checked
// and dropped. Only CRLF ends a line; a size has at most 15 hex digits with no white space after
// it. After an error or the end it consumes nothing more.
class ChunkedDecoder {
 public:
  static constexpr std::size_t kMaxExtensions = 4096;  // bytes after one chunk's size
  // The most bytes that all extensions together may have beyond the number of body bytes, so that a
  // sender cannot keep us busy for ever with a few bytes at a time.
  static constexpr std::size_t kMoreExtensions = 65536;
  static constexpr std::size_t kMaxTrailers = 16384;  // bytes of the trailer section

  enum class State : std::uint8_t { reading, done, failed };
  struct Step {
    std::size_t consumed = 0;  // bytes of the input that have been processed
    std::string_view body;     // a part of the input; may be empty
    State state = State::reading;
  };

  // Decodes the front of `input` up to the end of one slice of body. While the state is `reading`,
  // something was consumed and input is left, call it again with the rest; otherwise read more
  // first.
  Step feed(std::string_view input);

  bool done() const { return phase_ == Phase::done; }
  bool failed() const { return phase_ == Phase::failed; }

 private:
  enum class Phase : std::uint8_t {
    size,
    blank,
    extension,
    size_lf,
    data,
    data_cr,
    data_lf,
    trailer_start,
    trailer_name,
    trailer_value,
    trailer_lf,
    end_lf,
    done,
    failed
  };
  Phase next(char c);
  Phase size_byte(char c);
  Phase size_end(char c);

  std::uint64_t left_ = 0;      // of the chunk's size or data
  std::size_t digits_ = 0;      // hex digits of the size so far
  std::size_t skipped_ = 0;     // bytes of the chunk's extensions, then of trailers
  std::uint64_t extended_ = 0;  // bytes of all extensions, minus those of body, at least 0
  Phase phase_ = Phase::size;
};

// "1f4\r\n": precedes a chunk of `size` bytes (not 0). A CRLF must follow the chunk's bytes.
void append_chunk_size(std::string& out, std::size_t size);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace proxy::http
