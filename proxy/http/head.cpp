#include "proxy/http/head.hpp"

#include <algorithm>
#include <array>

#include "proxy/http/forwarding.hpp"
#include "proxy/http/sixteen_bytes.hpp"
#include "proxy/http/text.hpp"

namespace proxy::http {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

// Takes the line at the front of `rest`, with its CRLF, and returns it without. An error if the
// line does not end in CRLF.
HeadResult<std::string_view> parse_line(std::string_view& rest) {
  const std::size_t lf = rest.find('\n');
  if (lf == std::string_view::npos) return HeadError::no_end;
  // RFC 9112 2.2 lets a recipient take a bare LF for a line end. Two that differ in it see two
  // messages.
  if (lf == 0 || rest[lf - 1] != '\r') return HeadError::bare_lf;
  const std::string_view line = rest.substr(0, lf - 1);
  rest.remove_prefix(lf + 1);
  return line;
}

// Why this byte, which is not a kValueChar, may not be in a line.
HeadError why_refused(char c) {
  return c == '\r' ? HeadError::bare_cr : HeadError::bad_field_value;
}

// The position of the first byte that may not be in a value; the size if there is none.
std::size_t first_refused(std::string_view value) {
  return find_first(value, [](SixteenBytes bytes) {
    return ((bytes < 0x20) & (bytes != '\t')) | (bytes == 0x7f);
  });
}

// Why a line, without its CRLF, is no field line. RFC 9112 5.1: no white space before the colon.
HeadError why_no_field(std::string_view line) {
  if (line.empty()) return HeadError::no_end;
  if (line.front() == ' ' || line.front() == '\t') return HeadError::folded;
  const auto colon = leading(kTokenChar, line).size();
  if (colon == line.size()) return HeadError::bad_field_name;
  if (line[colon] == ' ' || line[colon] == '\t') return HeadError::space_before_colon;
  if (line[colon] == '\r') return HeadError::bare_cr;
  if (line[colon] != ':' || colon == 0) return HeadError::bad_field_name;
  const auto value = line.substr(colon + 1);
  const auto refused = first_refused(value);
  return refused < value.size() ? why_refused(value[refused]) : HeadError::bad_field_value;
}

// Sets the value of a line, without OWS, from what is between its colon and its CRLF.
void set_value(Field& line, std::string_view text) {
  const auto is_ows = [](char c) { return c == ' ' || c == '\t'; };
  line.in_line = text.size() > 1 && text.front() == ' ' && !is_ows(text[1]) && !is_ows(text.back());
  line.value = line.in_line ? text.substr(1) : trim(text);
}

// Takes the field line at the front of `rest`, with its CRLF, in one pass. False: nothing was
// taken, and why_no_field() knows why. RFC 9112 5.1: OWS around the value is not part of it.
bool parse_well_formed_field(std::string_view& rest, Field& into) {
  const auto colon = find_first(rest, [](SixteenBytes bytes) { return bytes == ':'; });
  if (colon == rest.size()) return false;
  into.name = rest.substr(0, colon);
  into.id = field_id(into.name);
  if (into.id == field::unknown && !is_token(into.name)) return false;
  auto after = rest.substr(colon + 1);
  const auto value = after.substr(0, first_refused(after));
  after.remove_prefix(value.size());
  if (!after.starts_with(kLineEnd)) return false;
  set_value(into, value);
  after.remove_prefix(kLineEnd.size());
  rest = after;
  return true;
}

// What becomes of white space before a colon.
enum class BeforeColon { refused, removed };

// Takes a line, without its CRLF, whose name is followed by white space. RFC 9112 5.1: a proxy
// removes it from a response. A field that frames the message is refused all the same: another
// reader may not have seen it.
HeadResult<void> parse_spaced_field(std::string_view line, Field& into) {
  into.name = leading(kTokenChar, line);
  into.id = field_id(into.name);
  const auto after = trim(line.substr(into.name.size()));
  const bool frames = into.id == field::content_length || is_connection_field(into.id);
  if (frames || !after.starts_with(':')) return HeadError::space_before_colon;
  const auto value = after.substr(1);
  const auto refused = first_refused(value);
  if (refused < value.size()) return why_refused(value[refused]);
  into.value = trim(value);
  into.in_line = false;
  return {};
}

// Takes the field line at the front of `rest`, with its CRLF.
HeadResult<void> parse_field(std::string_view& rest, Field& into,
                             BeforeColon spaces = BeforeColon::refused) {
  if (parse_well_formed_field(rest, into)) return {};
  const auto line = parse_line(rest);
  if (!line) return line.error();
  const auto why = why_no_field(*line);
  const bool mends = why == HeadError::space_before_colon && spaces == BeforeColon::removed;
  return mends ? parse_spaced_field(*line, into) : why;
}

HeadResult<void> parse_fields(std::string_view rest, const HeadLimits& limits, BeforeColon spaces,
                              Fields& fields) {
  while (!rest.starts_with(kLineEnd)) {
    if (fields.size() == limits.fields) return HeadError::too_many_fields;
    Field line;
    if (auto taken = parse_field(rest, line, spaces); !taken) return taken;
    fields.append(line);
  }
  // Bytes after the empty line are not part of a head: the caller cut it in the wrong place.
  return rest.size() == kLineEnd.size() ? HeadResult<void>{} : HeadError::no_end;
}

// "HTTP/1.1" -> 1. Later versions 1.x are read as 1.1 (RFC 9110 2.5).
HeadResult<int> parse_version(std::string_view version) {
  if (version.size() != 8 || version.substr(0, 5) != "HTTP/" || version[6] != '.' ||
      !is(kDigit, version[5]) || !is(kDigit, version[7]))
    return HeadError::bad_version;
  // RFC 9112 2.3: HTTP/2 has another form, and 0.9 no head at all.
  if (version[5] != '1') return HeadError::unsupported_version;
  return version[7] == '0' ? 0 : 1;
}

// Why a line, without its CRLF, is no request line.
HeadError why_no_request_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (line.find('\r') != std::string_view::npos) return HeadError::bare_cr;
  if (first == std::string_view::npos || first == last) return HeadError::bad_request_line;
  const auto target = line.substr(first + 1, last - first - 1);
  if (target.empty() || target.find(' ') != std::string_view::npos)
    return HeadError::bad_request_line;
  if (!is_token(line.substr(0, first))) return HeadError::bad_method;
  if (!all(kTargetChar, target)) return HeadError::bad_target;
  const auto minor = parse_version(line.substr(last + 1));
  return minor ? HeadError::bad_request_line : minor.error();
}

// Takes the request line at the front of `rest`, with its CRLF, in one pass. False: nothing was
// taken, and why_no_request_line() knows why.
bool parse_well_formed_request_line(std::string_view& rest, RequestHead& head) {
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
  head.icy = line.starts_with(kIcy);
  const auto version = line.substr(0, head.icy ? kIcy.size() - 1 : 8);
  const auto rest = line.substr(version.size());
  if (rest.size() < 4 || rest[0] != ' ' || (rest.size() > 4 && rest[4] != ' '))
    return HeadError::bad_status_line;
  const auto minor = head.icy ? HeadResult<int>(0) : parse_version(version);
  if (!minor) return minor.error();
  const auto status = parse_decimal(rest.substr(1, 3));
  if (!status || *status < (head.icy ? 200 : 100)) return HeadError::bad_status_line;
  head.minor = *minor;
  head.status = static_cast<unsigned>(*status);
  head.reason = trim(rest.substr(4));
  for (const char c : head.reason)
    if (!is(kValueChar, c)) return why_refused(c);
  return {};
}

// RFC 9112 5.2: each fold (CRLF and the white space after it) becomes spaces. A fold of the status
// line, or within a name, is kept, so that parsing the next line refuses it.
void join_folds(std::span<char> head) {
  const std::string_view text(head.data(), head.size());
  std::size_t at = text.find('\n');
  bool in_value = false;
  while (at != std::string_view::npos) {
    const auto begin = at + 1;
    at = text.find('\n', begin);
    if (at == std::string_view::npos) break;
    in_value = in_value || text.substr(begin, at - begin).find(':') != std::string_view::npos;
    const bool folded = at + 1 < text.size() && (text[at + 1] == ' ' || text[at + 1] == '\t');
    in_value = in_value && folded && text[at - 1] == '\r';
    if (in_value) head[at - 1] = head[at] = ' ';
  }
}

bool keeps(int minor, const Fields& fields) {
  // RFC 9112 9.3.
  if (!fields.has(field::connection)) return minor >= 1;
  if (has_member(fields, field::connection, "close")) return false;
  return minor >= 1 || has_member(fields, field::connection, "keep-alive");
}

HeadResult<void> parse_unfolded(std::string_view head, const HeadLimits& limits,
                                ResponseHead& into) {
  const auto line = parse_line(head);
  if (!line) return line.error();
  if (auto parsed = parse_status_line(*line, into); !parsed) return parsed;
  into.fields.clear();
  return parse_fields(head, limits, BeforeColon::removed, into.fields);
}

}  // namespace

bool RequestHead::keep_alive() const {
  return keeps(minor, fields);
}
bool ResponseHead::keep_alive() const {
  if (icy || !keeps(minor, fields)) return false;
  if (status != 204 && !interim()) return true;
  // A 1xx and a 204 end with their head (RFC 9112 6.3), but a server that states a body may send
  // one all the same.
  const auto length = fields.value(field::content_length);
  return !fields.has(field::transfer_encoding) && (length.empty() || length == "0");
}

std::size_t find_head_end(std::string_view buffer, std::size_t searched) {
  const auto ends_at = [buffer](std::size_t at) {
    if (buffer[at] != '\n') return false;
    return at == 0 || buffer[at - 1] != '\r' || (at >= 2 && buffer[at - 2] == '\n');
  };
  std::size_t at = searched;
  for (; at < std::min<std::size_t>(2, buffer.size()); ++at) {
    if (ends_at(at)) return at + 1;
  }
  for (; at + 16 <= buffer.size(); at += 16) {
    const auto* const bytes = buffer.data() + at;
    const auto is_end = (sixteen_bytes_at(bytes) == '\n') & ((sixteen_bytes_at(bytes - 1) != '\r') |
                                                             (sixteen_bytes_at(bytes - 2) == '\n'));
    const auto end = first_yes(is_end);
    if (end < 16) return at + end + 1;
  }
  for (; at < buffer.size(); ++at) {
    if (ends_at(at)) return at + 1;
  }
  return std::string_view::npos;
}

HeadResult<void> parse_request_head(std::string_view head, const HeadLimits& limits,
                                    RequestHead& into) {
  if (head.size() > limits.bytes) return HeadError::too_large;
  // RFC 9112 2.2: some old clients end a POST with an empty line more.
  if (head.starts_with(kLineEnd)) head.remove_prefix(kLineEnd.size());
  if (!parse_well_formed_request_line(head, into)) {
    const auto line = parse_line(head);
    return line ? why_no_request_line(*line) : line.error();
  }
  into.fields.clear();
  return parse_fields(head, limits, BeforeColon::refused, into.fields);
}

HeadResult<RequestHead> parse_request_head(std::string_view head, const HeadLimits& limits) {
  HeadResult<RequestHead> result{RequestHead{}};
  if (auto parsed = parse_request_head(head, limits, *result); !parsed) return parsed.error();
  return result;
}

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
  const auto line = parse_line(head);
  if (!line) return line.error();
  ResponseHead first;
  if (auto parsed = parse_status_line(*line, first); !parsed) return parsed.error();
  StoredHead stored{.status = first.status, .date = {}};
  bool has_date = false;
  while (!head.empty()) {
    Field next;
    if (auto taken = parse_field(head, next); !taken) return taken.error();
    if (has_date || next.id != field::date) continue;
    has_date = true;
    stored.date = next.value;
  }
  return stored;
}

bool is_safe(std::string_view method) {
  static constexpr std::array<std::string_view, 7> kSafe{"GET",      "HEAD",   "OPTIONS", "TRACE",
                                                         "PROPFIND", "REPORT", "SEARCH"};
  return std::ranges::find(kSafe, method) != kSafe.end();
}

bool is_idempotent(std::string_view method) {
  return is_safe(method) || method == "PUT" || method == "DELETE";
}

}  // namespace proxy::http
