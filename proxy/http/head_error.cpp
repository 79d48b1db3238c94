#include "proxy/http/head_error.hpp"

#include <boost/throw_exception.hpp>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace proxy::http {

namespace {

struct Row {
  HeadError error;
  std::string_view text;
  unsigned status = 400;
};

// In the order of the enumerators.
constexpr Row kRows[] = {
    {HeadError::too_large, "the head is larger than the setting limits.head allows", 431},
    {HeadError::too_many_fields, "the head has more fields than the setting limits.fields allows",
     431},
    {HeadError::no_end, "the empty line that ends the head is missing"},
    {HeadError::bare_lf, "a line of the head ends in LF without CR"},
    {HeadError::bare_cr, "the head has a CR without LF"},
    {HeadError::bad_request_line, "the request line is not METHOD SP TARGET SP VERSION"},
    {HeadError::bad_method, "the method is not a token"},
    {HeadError::bad_status_line, "the status line is not VERSION SP STATUS SP REASON"},
    {HeadError::bad_version, "the version is not HTTP/1.1 or HTTP/1.0"},
    {HeadError::unsupported_version, "this version of HTTP is not supported", 505},
    {HeadError::folded, "a field is folded over several lines"},
    {HeadError::bad_field_name, "a field name is not a token"},
    {HeadError::space_before_colon, "there is white space between a field name and its colon"},
    {HeadError::bad_field_value, "a field value has a control character"},
    {HeadError::bad_content_length, "Content-Length is not one decimal number"},
    {HeadError::two_lengths, "Content-Length is given more than once"},
    {HeadError::length_and_coding, "Content-Length and Transfer-Encoding contradict each other"},
    {HeadError::coding_in_http10, "HTTP/1.0 has no Transfer-Encoding"},
    {HeadError::bad_coding, "Transfer-Encoding does not end in one \"chunked\""},
    {HeadError::unsupported_coding, "Transfer-Encoding has a coding that is not supported", 501},
    {HeadError::no_host, "Host is missing"},
    {HeadError::two_hosts, "Host is given more than once"},
    {HeadError::bad_host, "the host is not a valid name or address"},
    {HeadError::bad_target, "the request target is malformed"},
    {HeadError::userinfo, "the URL names a user before the host"},
    {HeadError::unsupported_scheme, "only http and https URLs are supported", 501},
    {HeadError::target_too_long, "the URL is too long", 414},
    {HeadError::bad_max_forwards, "Max-Forwards is not one decimal number"},
    {HeadError::trace_with_body, "a TRACE request has no body"},
    {HeadError::trace_with_credentials,
     "TRACE would show credentials or cookies to anybody who reads its response"},
};

constexpr bool has_each_in_order() {
  std::size_t next = 0;
  for (const auto& row : kRows) {
    if (static_cast<std::size_t>(row.error) != next++) return false;
  }
  return next == static_cast<std::size_t>(HeadError::trace_with_credentials) + 1;
}
static_assert(has_each_in_order());

// Categories are never deleted through a pointer (Boost keeps the destructor protected), but g++ 12
// warns all the same.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
// The value of a code is one more than that of its error, because 0 is no error.
class Category final : public boost::system::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "head"; }
  [[nodiscard]] std::string message(int code) const override {
    return std::string(text(static_cast<HeadError>(code - 1)));
  }
};
#pragma GCC diagnostic pop

const boost::system::error_category& head_category() {
  static const Category category;
  return category;
}

}  // namespace

std::string_view text(HeadError error) {
  return kRows[static_cast<std::size_t>(error)].text;
}

std::string_view setting_of(HeadError error) {
  if (error == HeadError::too_large) return "limits.head";
  return error == HeadError::too_many_fields ? "limits.fields" : std::string_view();
}

boost::system::error_code make_error_code(HeadError error) {
  return {static_cast<int>(error) + 1, head_category()};
}

std::optional<HeadError> head_error_of(const boost::system::error_code& code) {
  if (!code || code.category() != head_category()) return std::nullopt;
  return static_cast<HeadError>(code.value() - 1);
}

unsigned status_of(HeadError error) {
  return kRows[static_cast<std::size_t>(error)].status;
}

void throw_exception_from_error(HeadError error, const boost::source_location& where) {
  boost::throw_exception(std::runtime_error(std::string(text(error))), where);
}

}  // namespace proxy::http
