#include "proxy/http/forwarding.hpp"

#include <algorithm>
#include <boost/beast/http/status.hpp>
#include <utility>

#include "peers/native_target.hpp"
#include "peers/site.hpp"
#include "proxy/http/forwarded.hpp"

namespace proxy::http {
namespace {

// What a Hearsay says to the next hop alone. A client's would steer the neighbours that we ask.
constexpr std::string_view kOfHearsay[] = {peers::kEpochField, peers::kFetchField,
                                           peers::kDigestField, peers::kRuleField,
                                           peers::kPartField};

bool is_of_one_hop(const Field& line) {
  if (line.id != field::unknown) return is_connection_field(line.id);
  // Before the words are compared, as each field of each head comes here.
  if (lower(line.name.front()) != 'h') return false;  // nearly always
  return has_word(kOfHearsay, line.name);
}

// RFC 9110 7.6.1: fields for all recipients are never connection options. Without these fields, a
// message would be framed, routed, cached, authorized or decoded in another way than its sender
// meant.
constexpr FieldSet kForAll(field::age, field::authorization, field::cache_control,
                           field::content_range, field::content_encoding, field::content_length,
                           field::content_type, field::content_location, field::cookie, field::date,
                           field::etag, field::expect, field::expires, field::host, field::if_match,
                           field::if_range, field::if_modified_since, field::if_none_match,
                           field::last_modified, field::location, field::if_unmodified_since,
                           field::max_forwards, field::pragma, field::range, field::set_cookie,
                           field::vary, field::via);

// A proxy in front of us may pass on its client's Connection. The client must not remove the field
// by which that proxy tells that it is there.
bool is_for_all(const Field& line) {
  return kForAll.has(line.id) || classify_forwarded(line) == Tells::client;
}

// The end of the comment that opens at the front of `text` (comments nest, RFC 9110 5.6.5). 0 if it
// never closes: such a parenthesis begins no comment.
std::size_t comment_end(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '(')
      ++depth;
    else if (text[i] == ')' && --depth == 0)
      return i + 1;
  }
  return 0;
}

// Whether a word of a Via line, outside of comments, is this name. In a member with too many or too
// few words, every word counts: an undetected loop costs more than a refusal.
bool via_has(std::string_view line, std::string_view name) {
  bool comments = true;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find_first_of(" \t,()"), line.size());
    if (end > 0 && same_word(line.substr(0, end), name)) return true;
    line.remove_prefix(end);
    if (line.empty()) break;
    const std::size_t comment = comments && line.front() == '(' ? comment_end(line) : 1;
    comments = comments && comment > 0;
    line.remove_prefix(std::max<std::size_t>(comment, 1));
  }
  return false;
}

// Whether the cookie is "hearsay-PORT=...".
bool signs_in(std::string_view cookie) {
  if (!cookie.starts_with(kSignInCookie)) return false;
  cookie.remove_prefix(kSignInCookie.size());
  return leading(kDigit, cookie).size() == cookie.find('=');
}

// Writes the line without the cookies that sign a browser in to a Hearsay.
void write_other_cookies(PieceWriter& out, const Field& line) {
  const auto others = other_cookies(line.value);
  if (!others.empty()) out << line.name << ": " << others << "\r\n";
}

// This class writes lines one after another. Lines that are neighbours in one text are copied
// together if they have the form in which we write.
class LineWriter {
 public:
  explicit LineWriter(PieceWriter& out) : out_(out) {}

  void write(const Field& field) {
    if (field.id == field::cookie && field.value.find(kSignInCookie) != field.value.npos) {
      flush();
      return write_other_cookies(out_, field);
    }
    const auto line = field.line();
    if (!line.empty() && line.data() == lines_.data() + lines_.size()) {
      lines_ = {lines_.data(), lines_.size() + line.size()};
      return;
    }
    flush();
    lines_ = line;
    if (line.empty()) write_field(out_, field.name, field.value);
  }
  // Call this last.
  void flush() { out_ << std::exchange(lines_, {}); }

 private:
  PieceWriter& out_;
  std::string_view lines_;  // not written yet
};

// `ends_here` tells the lines that are not forwarded, beside those in `without`.
template <class EndsHere>
void write_end_to_end(PieceWriter& out, const Fields& fields, field regenerated,
                      std::span<const field> without, EndsHere ends_here) {
  LineWriter lines(out);
  for (const Field& line : fields) {
    if (line.id == regenerated || line.id == field::content_length) continue;
    if (ends_here(line) || (line.id != field::unknown && holds(without, line.id))) continue;
    lines.write(line);
  }
  lines.flush();
}

// Nearly every Connection says this and nothing else.
bool names_no_field(const Field& line) {
  return line.id != field::connection || same_word(line.value, "keep-alive") ||
         same_word(line.value, "close");
}

}  // namespace

std::string other_cookies(std::string_view value) {
  std::string others;
  while (!value.empty()) {
    const auto cookie = next_cookie(value);
    if (cookie.empty() || signs_in(cookie)) continue;
    if (!others.empty()) others += "; ";
    others += cookie;
  }
  return others;
}

bool is_connection_field(field id) {
  constexpr FieldSet kOfConnection(field::connection, field::keep_alive, field::proxy_connection,
                                   field::proxy_authorization, field::te, field::trailer,
                                   field::transfer_encoding, field::upgrade, field::http2_settings);
  return kOfConnection.has(id);
}

HopByHop::HopByHop(const Fields& fields) {
  if (!fields.may_have(field::connection)) return;
  for (const Field& line : fields) {
    // Most lines say keep-alive or close, which name no field.
    if (!names_no_field(line)) record(line.value);
  }
}

void HopByHop::record(std::string_view connection) {
  Members options(connection);
  while (const auto option = options.next()) {
    // Without a bound, one head of 64 KiB would cost millions of comparisons.
    if (options_.size() == kMaxOptions) break;
    if (!same_word(*option, "close") && !same_word(*option, "keep-alive"))
      options_.push_back(*option);
  }
}

bool HopByHop::ends_here(const Field& line) const {
  return is_of_one_hop(line) || is_named(line);
}

bool HopByHop::is_named(const Field& line) const {
  if (options_.empty()) return false;
  const bool named = options_.size() == kMaxOptions || has_word(options_, line.name);
  return named && !is_for_all(line) && !is_of_one_hop(line);
}

std::string_view next_cookie(std::string_view& cookies) {
  const auto end = std::min(cookies.size(), cookies.find(';'));
  const auto cookie = trim(cookies.substr(0, end));
  cookies.remove_prefix(std::min(cookies.size(), end + 1));
  return cookie;
}

std::optional<Fields> without_named(const Fields& fields) {
  if (!fields.has(field::connection)) return std::nullopt;
  if (std::ranges::all_of(fields, names_no_field)) return std::nullopt;
  const HopByHop hop(fields);
  return without(fields, [&hop](const Field& line) { return hop.is_named(line); });
}

bool via_names(const Fields& fields, std::string_view our_name) {
  return fields.has(field::via) && std::ranges::any_of(fields, [our_name](const Field& line) {
           return line.id == field::via && via_has(line.value, our_name);
         });
}

void append_request_head(std::string& out, const UpstreamRequest& request) {
  PieceWriter head(out);
  head << request.method << " " << request.target << " HTTP/1.1\r\n";
  write_field(head, "Host", request.host);
  // What Connection named is gone. It cannot name what we have added since.
  write_end_to_end(head, request.fields, field::host, request.without,
                   [](const Field& line) { return is_of_one_hop(line); });
  write_via(head, request.received_minor, request.name);
  write_framing(head, request.framing);
  for (const Field& line : request.extra) write_field(head, line.name, line.value);
  head << "\r\n";
  head.flush();
}

std::string to_proxy(std::string_view head, std::string_view site, std::string_view authorization) {
  // The head is ours, made by append_request_head(), so that its form is known.
  const auto target_at = head.find(' ') + 1;
  auto rest = head.substr(target_at);
  if (!site.empty() && rest.starts_with("* ")) rest.remove_prefix(1);
  const auto line_end = rest.find("\r\n") + 2;
  std::string out;
  out.reserve(head.size() + site.size() + authorization.size() + 32);
  ((out += head.substr(0, target_at)) += site) += rest.substr(0, line_end);
  if (!authorization.empty()) append_field(out, "Proxy-Authorization", authorization);
  return out += rest.substr(line_end);
}

void append_response_head(std::string& out, const ResponseHead& head, std::string_view name,
                          std::span<const field> without) {
  PieceWriter text(out);
  write_status_line(text, head);
  const HopByHop hop(head.fields);
  write_end_to_end(text, head.fields, field::age, without,
                   [&hop](const Field& line) { return hop.ends_here(line); });
  write_via(text, head.minor, name);
  text.flush();
}

void write_via(PieceWriter& out, int minor, std::string_view name) {
  out << "Via: 1." << (minor == 0 ? "0 " : "1 ") << name << "\r\n";
}

void write_status_line(PieceWriter& out, const ResponseHead& head) {
  // A player of such a stream looks for ICY, and for nothing of HTTP/1.1.
  if (!head.icy) return write_status_line(out, head.status, head.reason);
  out << kIcy << std::uint64_t{head.status} << " " << head.reason << "\r\n";
}

void write_status_line(PieceWriter& out, unsigned status, std::string_view reason) {
  out << "HTTP/1.1 " << std::uint64_t{status} << " " << reason << "\r\n";
}

void append_status_line(std::string& out, unsigned status, std::string_view reason) {
  PieceWriter text(out);
  write_status_line(text, status, reason);
  text.flush();
}

std::string_view reason_phrase(unsigned status) {
  const auto known = boost::beast::http::int_to_status(status);
  // RFC 9112 4: clients ignore the phrase, but some want one.
  if (known == boost::beast::http::status::unknown) return "Unknown";
  return boost::beast::http::obsolete_reason(known);
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.reserve(out.size() + name.size() + value.size() + 4);
  (((out += name) += ": ") += value) += "\r\n";
}

}  // namespace proxy::http
