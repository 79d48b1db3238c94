#include "proxy/http/head_error.hpp"

#include <boost/throw_exception.hpp>
#include <stdexcept>
#include <string>

namespace proxy::http {

std::string_view text(HeadError error) {
  switch (error) {
    case HeadError::too_large:
      return "the head is too large";
    case HeadError::too_many_fields:
      return "the head has too many fields";
    case HeadError::no_end:
      return "the empty line that ends the head is missing";
    case HeadError::bare_lf:
      return "a line of the head ends in LF without CR";
    case HeadError::bare_cr:
      return "the head has a CR without LF";
    case HeadError::bad_request_line:
      return "the request line is not METHOD SP TARGET SP VERSION";
    case HeadError::bad_method:
      return "the method is not a token";
    case HeadError::bad_status_line:
      return "the status line is not VERSION SP STATUS SP REASON";
    case HeadError::bad_version:
      return "the version is not HTTP/1.1 or HTTP/1.0";
    case HeadError::unsupported_version:
      return "this version of HTTP is not supported";
    case HeadError::folded:
      return "a field is folded over several lines";
    case HeadError::bad_field_name:
      return "a field name is not a token";
    case HeadError::space_before_colon:
      return "there is white space between a field name and its colon";
    case HeadError::bad_field_value:
      return "a field value has a control character";
    case HeadError::bad_content_length:
      return "Content-Length is not one decimal number";
    case HeadError::two_lengths:
      return "Content-Length is given more than once";
    case HeadError::length_and_coding:
      return "Content-Length and Transfer-Encoding contradict each other";
    case HeadError::coding_in_http10:
      return "HTTP/1.0 has no Transfer-Encoding";
    case HeadError::bad_coding:
      return "Transfer-Encoding does not end in one \"chunked\"";
    case HeadError::interim_with_body:
      return "an interim response says that it has a body";
    case HeadError::unsupported_coding:
      return "Transfer-Encoding has a coding that is not supported";
    case HeadError::no_host:
      return "Host is missing";
    case HeadError::two_hosts:
      return "Host is given more than once";
    case HeadError::bad_host:
      return "the host is not a valid name or address";
    case HeadError::bad_target:
      return "the request target is malformed";
    case HeadError::userinfo:
      return "the URL names a user before the host";
    case HeadError::unsupported_scheme:
      return "only http and https URLs are supported";
    case HeadError::target_too_long:
      return "the URL is too long";
    case HeadError::bad_max_forwards:
      return "Max-Forwards is not one decimal number";
    case HeadError::trace_with_body:
      return "a TRACE request has no body";
    case HeadError::trace_with_credentials:
      return "TRACE would show credentials or cookies to anybody who reads its response";
  }
  return "the head is malformed";
}

unsigned status_of(HeadError error) {
  switch (error) {
    case HeadError::too_large:
    case HeadError::too_many_fields:
      return 431;
    case HeadError::target_too_long:
      return 414;
    case HeadError::unsupported_coding:
    case HeadError::unsupported_scheme:
      return 501;
    case HeadError::unsupported_version:
      return 505;
    default:
      return 400;
  }
}

void throw_exception_from_error(HeadError error, const boost::source_location& where) {
  boost::throw_exception(std::runtime_error(std::string(text(error))), where);
}

}  // namespace proxy::http
