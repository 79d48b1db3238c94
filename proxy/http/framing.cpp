#include "proxy/http/framing.hpp"

#include "proxy/http/text.hpp"

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
  if (!length) return Framing{};
  if (length->value.find(',') != std::string_view::npos) return HeadError::two_lengths;
  const auto number = parse_decimal(length->value);
  // No body has a length beyond 2^63, and below it sums of lengths cannot overflow.
  if (!number || *number >> 63) return HeadError::bad_content_length;
  return Framing{Framing::Kind::sized, *number};
}

bool has_no_body(unsigned status, std::string_view request_method) {
  return request_method == "HEAD" || status == 204 || status == 304 ||
         (request_method == "CONNECT" && status < 300);
}

}  // namespace

HeadResult<Framing> request_framing(const RequestHead& head) {
  return stated(head.minor, head.fields);
}

HeadResult<Framing> response_framing(const ResponseHead& head, std::string_view request_method) {
  if (head.interim()) return Framing{};
  const auto framing = stated(head.minor, head.fields);
  if (!framing) return framing;
  if (has_no_body(head.status, request_method)) return Framing{};
  return framing->kind == Framing::Kind::none ? Framing{Framing::Kind::until_close, 0} : framing;
}

HeadResult<void> check_host(const RequestHead& head, const Target& target) {
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

}  // namespace proxy::http
