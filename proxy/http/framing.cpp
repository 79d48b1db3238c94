#include "proxy/http/framing.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "proxy/http/forwarding.hpp"
#include "proxy/http/secrets.hpp"

namespace proxy::http {
namespace {

// Classifies a Transfer-Encoding other than a single `chunked`. RFC 9112 6.3 (4) requires 400 if
// chunked is not last; 6.1 requires 501 for an unknown coding before it.
HeadError why_refused(const Fields& fields) {
  Members codings(fields, field::transfer_encoding);
  std::size_t chunked = 0;
  bool last = false;
  while (const auto coding = codings.next()) {
    if (!is_token(*coding)) return HeadError::bad_coding;
    last = same_word(*coding, "chunked");
    chunked += last;
  }
  return last && chunked == 1 ? HeadError::unsupported_coding : HeadError::bad_coding;
}

HeadResult<Framing> sized(std::string_view length) {
  if (length.find(',') != std::string_view::npos) return HeadError::two_lengths;
  const auto number = parse_decimal(length);
  // No body has a length beyond 2^63, and below it sums of lengths cannot overflow.
  if (!number || *number >> 63) return HeadError::bad_content_length;
  return Framing{Framing::Kind::sized, *number};
}

// What the fields state about the body; kind none if they state nothing (RFC 9112 6.1-6.3).
HeadResult<Framing> stated(int minor, const Fields& fields) {
  if (!fields.has(field::content_length) && !fields.has(field::transfer_encoding)) return Framing{};
  const Field* length = nullptr;
  const Field* coding = nullptr;
  for (const Field& line : fields) {
    if (line.id == field::content_length) {
      if (length) return HeadError::two_lengths;
      length = &line;
    } else if (line.id == field::transfer_encoding) {
      if (coding) return why_refused(fields);
      coding = &line;
    }
  }
  if (length && coding) return HeadError::length_and_coding;
  if (coding) {
    if (minor == 0) return HeadError::coding_in_http10;
    if (!same_word(coding->value, "chunked")) return why_refused(fields);
    return Framing{Framing::Kind::chunked, 0};
  }
  return length ? sized(length->value) : Framing{};
}

// RFC 9112 6.3 (1) and (2).
bool has_no_body(unsigned status, std::string_view request_method) {
  return request_method == "HEAD" || status == 204 || status == 304 ||
         (request_method == "CONNECT" && status < 300);
}

constexpr std::uint64_t kMost = std::uint64_t{1} << 32;

bool counts_hops(const RequestHead& head) {
  return head.method == "OPTIONS" || head.method == "TRACE";
}

bool has_credentials(const Fields& fields) {
  return fields.has(field::authorization) || fields.has(field::cookie) ||
         fields.has(field::cookie2);
}

// 15 hex digits cannot overflow and leave room for senders that pad with zeros.
constexpr std::size_t kMaxDigits = 15;

unsigned hex_value(char c) {
  return static_cast<unsigned>(is(kDigit, c) ? c - '0' : lower(c) - 'a' + 10);
}

}  // namespace

HeadResult<Framing> request_framing(const RequestHead& head) {
  return stated(head.minor, head.fields);
}

HeadResult<Framing> response_framing(const ResponseHead& head, std::string_view request_method) {
  // RFC 9112 6.3 (1): an interim response ends with its empty line, whatever its fields say.
  if (head.interim()) return Framing{};
  const auto framing = stated(head.minor, head.fields);
  if (!framing) return framing;
  if (has_no_body(head.status, request_method)) return Framing{};
  return framing->kind == Framing::Kind::none ? Framing{Framing::Kind::until_close, 0} : framing;
}

HeadResult<void> check_host(const RequestHead& head, const Target& target) {
  // RFC 9112 3.2. Two hosts are an attempt to have two servers see two requests.
  const std::size_t hosts = head.fields.count(field::host);
  if (hosts > 1) return HeadError::two_hosts;
  if (hosts == 0) return head.minor == 0 ? HeadResult<void>{} : HeadError::no_host;
  const auto host = head.fields.value(field::host);
  // Nearly every client writes the host into both.
  const bool is_targets = target.form() == Target::Form::absolute && host == target.authority();
  if (is_targets || valid_host(host)) return {};
  return HeadError::bad_host;
}

void write_framing(PieceWriter& out, const Framing& framing) {
  if (framing.kind == Framing::Kind::chunked) out << "Transfer-Encoding: chunked\r\n";
  if (framing.kind == Framing::Kind::sized) out << "Content-Length: " << framing.length << "\r\n";
}

HeadResult<void> check_hops(const RequestHead& head, const Framing& framing) {
  if (counts_hops(head)) {
    const auto said = head.fields.value(field::max_forwards);
    const auto lines = head.fields.count(field::max_forwards);
    if (lines > 1 || (lines == 1 && (said.empty() || !all(kDigit, said)))) {
      return HeadError::bad_max_forwards;
    }
  }
  if (!same_word(head.method, "TRACE")) return {};  // many origins take `trace` for TRACE
  // RFC 9110 9.3.8: no client may send either with TRACE.
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

bool asks_for_websocket(const RequestHead& head, const Framing& framing) {
  // RFC 6455 4.1: anything else is no handshake, and goes on without its Upgrade.
  return head.fields.has(field::upgrade) && head.method == "GET" && head.minor >= 1 &&
         !framing.has_body() && has_member(head.fields, field::connection, "upgrade") &&
         has_member(head.fields, field::upgrade, kWebSocket);
}

bool becomes_websocket(const ResponseHead& answer) {
  const auto& fields = answer.fields;
  // RFC 6455 4.1 of the client: the response names websocket in Upgrade, and Upgrade in Connection.
  return answer.status == 101 && answer.minor >= 1 && fields.count(field::upgrade) == 1 &&
         same_word(fields.value(field::upgrade), kWebSocket) &&
         has_member(fields, field::connection, "upgrade");
}

ChunkedDecoder::Step ChunkedDecoder::feed(std::string_view input) {
  Step step;
  while (step.consumed < input.size() && !done() && !failed()) {
    if (phase_ == Phase::data) {
      const std::size_t held = input.size() - step.consumed;
      step.body = input.substr(step.consumed,
                               static_cast<std::size_t>(std::min<std::uint64_t>(held, left_)));
      step.consumed += step.body.size();
      left_ -= step.body.size();
      if (left_ == 0) phase_ = Phase::data_cr;
      break;
    }
    phase_ = next(input[step.consumed]);
    if (!failed()) ++step.consumed;
  }
  step.state = failed() ? State::failed : done() ? State::done : State::reading;
  return step;
}

// Processes one byte that is not body. In most phases the bytes are of one class and bounded in
// number, until one byte ends the phase.
ChunkedDecoder::Phase ChunkedDecoder::next(char c) {
  struct Rule {
    char end = '\0';
    Phase then = Phase::failed;
    CharClass of{};  // none: nothing precedes the end
    std::size_t most = 0;
    Phase next = Phase::failed;
  };
  // By phase, in the order of the enumerators.
  static constexpr Rule kRules[] = {
      {},
      {';', Phase::extension},
      {'\r', Phase::size_lf, kValueChar, kMaxExtensions, Phase::extension},
      {},
      {},
      {'\r', Phase::data_lf},
      {'\n', Phase::size},
      {'\r', Phase::end_lf, kTokenChar, kMaxTrailers, Phase::trailer_name},
      {':', Phase::trailer_value, kTokenChar, kMaxTrailers, Phase::trailer_name},
      {'\r', Phase::trailer_lf, kValueChar, kMaxTrailers, Phase::trailer_value},
      {'\n', Phase::trailer_start},
      {'\n', Phase::done},
  };
  static_assert(std::size(kRules) == static_cast<std::size_t>(Phase::done));
  if (phase_ == Phase::size) return size_byte(c);
  if (phase_ == Phase::size_lf) return size_end(c);
  const Rule& rule = kRules[static_cast<std::size_t>(phase_)];
  if (c == rule.end) {
    // A colon counts as a byte of the trailers, a line end does not.
    return c != ':' || ++skipped_ <= rule.most ? rule.then : Phase::failed;
  }
  // White space after a size is invalid, but must be accepted before an extension (RFC 9110 5.6.3).
  if (phase_ == Phase::blank && (c == ' ' || c == '\t')) {
    return ++skipped_ <= kMaxExtensions ? Phase::blank : Phase::failed;
  }
  return is(rule.of, c) && ++skipped_ <= rule.most ? rule.next : Phase::failed;
}

ChunkedDecoder::Phase ChunkedDecoder::size_byte(char c) {
  if (is(kHex, c)) {
    if (++digits_ > kMaxDigits) return Phase::failed;
    left_ = left_ << 4 | hex_value(c);
    return Phase::size;
  }
  if (digits_ == 0) return Phase::failed;
  if (c == '\r') return Phase::size_lf;
  if (c == ' ' || c == '\t') return Phase::blank;
  return c == ';' ? Phase::extension : Phase::failed;
}

ChunkedDecoder::Phase ChunkedDecoder::size_end(char c) {
  // Bytes of the body pay for bytes of extensions: a sender that does nothing but extend is
  // refused.
  extended_ += skipped_;
  extended_ -= std::min(extended_, left_);
  digits_ = skipped_ = 0;
  if (c != '\n' || extended_ > kMoreExtensions) return Phase::failed;
  return left_ == 0 ? Phase::trailer_start : Phase::data;
}

void append_chunk_size(std::string& out, std::size_t size) {
  char digits[16];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, size, 16).ptr);
  out += "\r\n";
}

}  // namespace proxy::http
