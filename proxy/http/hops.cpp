#include "proxy/http/hops.hpp"

#include <algorithm>

#include "proxy/http/forwarding.hpp"
#include "proxy/http/text.hpp"

namespace proxy::http {
namespace {

constexpr std::uint64_t kMost = std::uint64_t{1} << 32;

bool counts_hops(const RequestHead& head) {
  return head.method == "OPTIONS" || head.method == "TRACE";
}

bool has_credentials(const Fields& fields) {
  return fields.has(field::authorization) || fields.has(field::cookie) ||
         fields.has(field::cookie2);
}

// Beside the registered names there are X-Api-Key, X-Auth-Token, X-Csrf-Token and so on.
bool may_be_secret(std::string_view name) {
  constexpr std::string_view kTelling[] = {"auth", "cookie", "token", "key", "secret", "password"};
  const auto text = lower(name);
  return std::any_of(std::begin(kTelling), std::end(kTelling), [&text](std::string_view word) {
    return text.find(word) != std::string::npos;
  });
}

}  // namespace

HeadResult<void> check_hops(const RequestHead& head, const Framing& framing) {
  if (counts_hops(head)) {
    const auto said = head.fields.value(field::max_forwards);
    const auto lines = head.fields.count(field::max_forwards);
    if (lines > 1 || (lines == 1 && (said.empty() || !all(kDigit, said)))) {
      return HeadError::bad_max_forwards;
    }
  }
  if (!same_word(head.method, "TRACE")) return {};  // many origins take `trace` for TRACE
  if (framing.has_body()) return HeadError::trace_with_body;
  const bool ends_here = hops_left(head) == std::uint64_t{0};
  if (!ends_here && has_credentials(head.fields)) return HeadError::trace_with_credentials;
  return {};
}

std::optional<std::uint64_t> hops_left(const RequestHead& head) {
  if (!counts_hops(head) || !head.fields.has(field::max_forwards)) return std::nullopt;
  const auto number = parse_decimal(head.fields.value(field::max_forwards));
  return std::min(number.value_or(kMost),
                  kMost);  // all digits, so a number that does not fit is larger
}

std::string traced(const RequestHead& head, const Target& target) {
  const bool absolute = target.form() == Target::Form::absolute;
  std::string text(head.method);
  (text += ' ') += absolute ? std::string_view(target.url()) : head.target;
  text += head.minor == 0 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n";
  for (const Field& line : head.fields) {
    if (!may_be_secret(line.name)) append_field(text, line.name, line.value);
  }
  return text += "\r\n";
}

}  // namespace proxy::http
