#include "proxy/http/head.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

#include "proxy/http/text.hpp"

namespace proxy::http {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

// Takes the line at the front of `rest`, with its CRLF, and returns it without. An error if the
// line does not end in CRLF.
HeadResult<std::string_view> take_line(std::string_view& rest) {
  const std::size_t lf = rest.find('\n');
  if (lf == std::string_view::npos) return HeadError::no_end;
  if (lf == 0 || rest[lf - 1] != '\r') return HeadError::bare_lf;
  const std::string_view line = rest.substr(0, lf - 1);
  rest.remove_prefix(lf + 1);
  return line;
}

// Why this byte, which is not a kValueChar, may not be in a line.
HeadError why_refused(char c) {
  return c == '\r' ? HeadError::bare_cr : HeadError::bad_field_value;
}

// How many of eight bytes, from the first on, surely are SP, VCHAR or obs-text. A machine that
// keeps the high byte of a number first cannot tell where the others begin.
std::size_t surely_of_value(const char* bytes) {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x80 * kEach;
  std::uint64_t eight = 0;
  std::memcpy(&eight, bytes, sizeof eight);
  const auto below_space = (eight - 0x20 * kEach) & ~eight;
  const auto no_delete = eight ^ 0x7f * kEach;
  const auto is_delete = (no_delete - kEach) & ~no_delete;
  const auto others = (below_space | is_delete) & kHigh;
  if constexpr (std::endian::native != std::endian::little) return others == 0 ? 8 : 0;
  return static_cast<std::size_t>(std::countr_zero(others)) / 8;  // 64 if there is none
}

// The position of the first byte that may not be in a value; the size if there is none.
std::size_t first_refused(std::string_view value) {
  std::size_t at = 0;
  while (at + 8 <= value.size()) {
    const auto sure = surely_of_value(value.data() + at);
    at += sure;
    if (sure < 8 && !is(kValueChar, value[at])) return at;
    if (sure < 8) ++at;  // a tab
  }
  while (at < value.size() && is(kValueChar, value[at])) ++at;
  return at;
}

// Calls `each` with the name and the value. RFC 9112 5.1: no white space before the colon; OWS
// around the value is not part of the value.
template <class Each>
HeadResult<void> parse_field(std::string_view line, const Each& each) {
  if (line.front() == ' ' || line.front() == '\t') return HeadError::folded;
  std::size_t colon = 0;
  while (colon < line.size() && is(kTokenChar, line[colon])) ++colon;
  if (colon == line.size()) return HeadError::bad_field_name;
  if (line[colon] == ' ' || line[colon] == '\t') return HeadError::space_before_colon;
  if (line[colon] == '\r') return HeadError::bare_cr;
  if (line[colon] != ':' || colon == 0) return HeadError::bad_field_name;
  const std::string_view value = line.substr(colon + 1);
  const auto refused = first_refused(value);
  if (refused < value.size()) return why_refused(value[refused]);
  each(line.substr(0, colon), trim(value));
  return {};
}

// A sink of parse_field().
auto appending_to(Fields& fields) {
  return [&fields](std::string_view name, std::string_view value) { fields.append(name, value); };
}

// Takes the field line at the front of `rest`, with its CRLF, in one pass. False: nothing was
// taken, and parse_field() knows why the line is refused.
template <class Each>
bool take_well_formed_field(std::string_view& rest, const Each& each) {
  const auto name = leading(kTokenChar, rest);
  auto after = rest.substr(name.size());
  if (name.empty() || !after.starts_with(':')) return false;
  after.remove_prefix(1);
  const auto value = after.substr(0, first_refused(after));
  after.remove_prefix(value.size());
  if (!after.starts_with(kLineEnd)) return false;
  each(name, trim(value));
  after.remove_prefix(kLineEnd.size());
  rest = after;
  return true;
}

HeadResult<void> parse_fields(std::string_view rest, const HeadLimits& limits, Fields& fields) {
  const auto append = appending_to(fields);
  while (!rest.starts_with(kLineEnd)) {
    if (fields.size() < limits.fields && take_well_formed_field(rest, append)) continue;
    const auto line = take_line(rest);
    if (!line) return line.error();
    if (fields.size() == limits.fields) return HeadError::too_many_fields;
    if (auto parsed = parse_field(*line, append); !parsed) return parsed;
  }
  // Bytes after the empty line are not part of a head: the caller cut it in the wrong place.
  return rest.size() == kLineEnd.size() ? HeadResult<void>{} : HeadError::no_end;
}

// "HTTP/1.1" -> 1. Later versions 1.x are read as 1.1 (RFC 9110 2.5).
HeadResult<int> parse_version(std::string_view version) {
  if (version.size() != 8 || version.substr(0, 5) != "HTTP/" || version[6] != '.' ||
      !is(kDigit, version[5]) || !is(kDigit, version[7]))
    return HeadError::bad_version;
  if (version[5] != '1') return HeadError::unsupported_version;
  return version[7] == '0' ? 0 : 1;
}

HeadResult<void> parse_request_line(std::string_view line, RequestHead& head) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (line.find('\r') != std::string_view::npos) return HeadError::bare_cr;
  if (first == std::string_view::npos || first == last) return HeadError::bad_request_line;
  head.method = line.substr(0, first);
  head.target = line.substr(first + 1, last - first - 1);
  if (head.target.empty() || head.target.find(' ') != std::string_view::npos)
    return HeadError::bad_request_line;
  if (!is_token(head.method)) return HeadError::bad_method;
  if (!all(kTargetChar, head.target)) return HeadError::bad_target;
  const auto minor = parse_version(line.substr(last + 1));
  if (!minor) return minor.error();
  head.minor = *minor;
  return {};
}

// Takes the request line at the front of `rest`, with its CRLF, in one pass. False: nothing was
// taken, and parse_request_line() knows why the line is refused.
bool take_well_formed_request_line(std::string_view& rest, RequestHead& head) {
  constexpr std::size_t kVersion = 8;
  const auto method = leading(kTokenChar, rest);
  auto after = rest.substr(method.size());
  if (method.empty() || !after.starts_with(' ')) return false;
  after.remove_prefix(1);
  const auto target = leading(kTargetChar, after);
  after.remove_prefix(target.size());
  if (target.empty() || !after.starts_with(' ')) return false;
  after.remove_prefix(1);
  const auto minor = parse_version(after.substr(0, kVersion));
  if (!minor || !after.substr(kVersion).starts_with(kLineEnd)) return false;
  head.method = method;
  head.target = target;
  head.minor = *minor;
  after.remove_prefix(kVersion + kLineEnd.size());
  rest = after;
  return true;
}

// Senders must write the SP after the status, but its absence leaves no doubt.
HeadResult<void> parse_status_line(std::string_view line, ResponseHead& head) {
  if (line.size() < 12 || line[8] != ' ' || (line.size() > 12 && line[12] != ' '))
    return HeadError::bad_status_line;
  const auto minor = parse_version(line.substr(0, 8));
  if (!minor) return minor.error();
  const auto status = parse_decimal(line.substr(9, 3));
  if (!status || *status < 100) return HeadError::bad_status_line;
  head.minor = *minor;
  head.status = static_cast<unsigned>(*status);
  head.reason = trim(line.substr(12));
  for (const char c : head.reason)
    if (!is(kValueChar, c)) return why_refused(c);
  return {};
}

// RFC 9112 5.2: each fold (CRLF and the white space after it) becomes spaces. A fold of the status
// line is kept, so that parsing the first field refuses it.
void join_folds(std::span<char> head) {
  const std::string_view text(head.data(), head.size());
  std::size_t at = text.find('\n');
  while (at != std::string_view::npos && (at = text.find('\n', at + 1)) != std::string_view::npos) {
    const bool folded = at + 1 < text.size() && (text[at + 1] == ' ' || text[at + 1] == '\t');
    if (folded && text[at - 1] == '\r') head[at - 1] = head[at] = ' ';
  }
}

bool keeps(int minor, const Fields& fields) {
  if (!fields.has(field::connection)) return minor >= 1;
  if (has_member(fields, field::connection, "close")) return false;
  return minor >= 1 || has_member(fields, field::connection, "keep-alive");
}

}  // namespace

bool RequestHead::keep_alive() const {
  return keeps(minor, fields);
}
bool ResponseHead::keep_alive() const {
  if (!keeps(minor, fields)) return false;
  if (status != 204) return true;
  // A 204 ends with its head (RFC 9112 6.3), but a server that states a body may send one all the
  // same.
  const auto length = fields.value(field::content_length);
  return !fields.has(field::transfer_encoding) && (length.empty() || length == "0");
}

std::size_t find_head_end(std::string_view buffer, std::size_t searched) {
  for (std::size_t lf = buffer.find('\n', searched); lf != std::string_view::npos;
       lf = buffer.find('\n', lf + 1)) {
    if (lf == 0 || buffer[lf - 1] != '\r') return lf + 1;
    if (lf >= 3 && buffer[lf - 2] == '\n') return lf + 1;
  }
  return std::string_view::npos;
}

HeadResult<void> parse_request_head(std::string_view head, const HeadLimits& limits,
                                    RequestHead& into) {
  if (head.size() > limits.bytes) return HeadError::too_large;
  if (head.starts_with(kLineEnd)) head.remove_prefix(kLineEnd.size());
  if (!take_well_formed_request_line(head, into)) {
    const auto line = take_line(head);
    if (!line) return line.error();
    if (auto parsed = parse_request_line(*line, into); !parsed) return parsed;
  }
  into.fields.clear();
  return parse_fields(head, limits, into.fields);
}

HeadResult<RequestHead> parse_request_head(std::string_view head, const HeadLimits& limits) {
  HeadResult<RequestHead> result{RequestHead{}};
  if (auto parsed = parse_request_head(head, limits, *result); !parsed) return parsed.error();
  return result;
}

namespace {

HeadResult<void> parse_unfolded(std::string_view head, const HeadLimits& limits,
                                ResponseHead& into) {
  const auto line = take_line(head);
  if (!line) return line.error();
  if (auto parsed = parse_status_line(*line, into); !parsed) return parsed;
  into.fields.clear();
  return parse_fields(head, limits, into.fields);
}

}  // namespace

HeadResult<void> parse_response_head(std::span<char> bytes, const HeadLimits& limits,
                                     ResponseHead& into) {
  if (bytes.size() > limits.bytes) return HeadError::too_large;
  const std::string_view head(bytes.data(), bytes.size());
  auto parsed = parse_unfolded(head, limits, into);
  if (parsed || parsed.error() != HeadError::folded) return parsed;
  join_folds(bytes);  // seldom: folds are obsolete
  return parse_unfolded(head, limits, into);
}

HeadResult<ResponseHead> parse_response_head(std::span<char> bytes, const HeadLimits& limits) {
  HeadResult<ResponseHead> head{ResponseHead{}};
  if (auto parsed = parse_response_head(bytes, limits, *head); !parsed) return parsed.error();
  return head;
}

HeadResult<StoredHead> parse_stored_head(std::string_view head) {
  const auto line = take_line(head);
  if (!line) return line.error();
  ResponseHead first;
  if (auto parsed = parse_status_line(*line, first); !parsed) return parsed.error();
  StoredHead stored{.status = first.status, .date = {}};
  bool has_date = false;
  const auto note_date = [&](std::string_view name, std::string_view value) {
    if (has_date || !same_word(name, "Date")) return;
    has_date = true;
    stored.date = value;
  };
  while (!head.empty()) {
    if (take_well_formed_field(head, note_date)) continue;
    const auto next = take_line(head);
    if (!next) return next.error();
    if (next->empty()) return HeadError::no_end;
    if (auto parsed = parse_field(*next, note_date); !parsed) return parsed.error();
  }
  return stored;
}

}  // namespace proxy::http
