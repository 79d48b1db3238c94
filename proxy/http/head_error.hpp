// Why a message head is refused: one enumerator per rule, each with a line of text for people.
#pragma once

#include <boost/assert/source_location.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

namespace proxy::http {

enum class HeadError : std::uint8_t {
  too_large,            // more bytes than HeadLimits allows (the setting limits.head)
  too_many_fields,      // more lines than HeadLimits allows (the setting limits.fields)
  no_end,               // the empty line is missing
  bare_lf,              // LF without CR before it, RFC 9112 2.2
  bare_cr,              // CR without LF after it
  bad_request_line,     // RFC 9112 3
  bad_method,           // not a token
  bad_status_line,      // RFC 9112 4
  bad_version,          // not HTTP/d.d
  unsupported_version,  // another major version than 1, RFC 9110 15.6.6
  folded,               // obs-fold in a request, or before the first field, RFC 9112 5.2
  bad_field_name,       // not a token, or empty
  space_before_colon,   // in a request, or in a response's field that frames, RFC 9112 5.1
  bad_field_value,      // NUL or another control character, RFC 9110 5.5
  bad_content_length,   // not one decimal number in range, RFC 9112 6.3 (5)
  two_lengths,          // several Content-Length lines or a list, equal or not
  length_and_coding,    // Content-Length beside Transfer-Encoding, RFC 9112 6.1
  coding_in_http10,     // Transfer-Encoding in an HTTP/1.0 message, RFC 9112 6.1
  bad_coding,           // the last coding is not a single `chunked`
  unsupported_coding,   // an unknown coding before `chunked`
  no_host,              // RFC 9112 3.2
  two_hosts,            //
  bad_host,             //
  bad_target,           // RFC 9112 3.2, or bytes that no target may have
  userinfo,             // before the host of a request's URL, RFC 9110 4.2.4
  unsupported_scheme,   // neither http nor https
  target_too_long,      // the canonical URL is longer than kMaxUrl
  bad_max_forwards,     // of OPTIONS or TRACE: not one decimal number, RFC 9110 7.6.2
  trace_with_body,      // RFC 9110 9.3.8
  trace_with_credentials,
};

// One line without a full stop, fit for the body of the error response.
std::string_view text(HeadError error);
// The setting whose limit the head exceeds, such as "limits.head"; empty: none.
std::string_view setting_of(HeadError error);
// The error as an error_code, for readers of streams. Its message is text().
boost::system::error_code make_error_code(HeadError error);
// The error of which make_error_code() has made the code. Nothing for another code.
std::optional<HeadError> head_error_of(const boost::system::error_code& code);
// The status of the response to such a request: 400, 414, 431, 501 or 505. (A bad response: always
// 502.)
unsigned status_of(HeadError error);

// Thrown by result<T, HeadError>::value(), which only a test should call without checking.
[[noreturn]] void throw_exception_from_error(HeadError error, const boost::source_location& where);

template <class T>
using HeadResult = boost::system::result<T, HeadError>;

}  // namespace proxy::http
