#include "proxy/http/chunked.hpp"

#include <algorithm>
#include <charconv>

#include "proxy/http/text.hpp"

namespace proxy::http {
namespace {

// 15 hex digits cannot overflow and leave room for senders that pad with zeros.
constexpr std::size_t kMaxDigits = 15;

unsigned hex_value(char c) {
  return static_cast<unsigned>(is(kDigit, c) ? c - '0' : lower(c) - 'a' + 10);
}

}  // namespace

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

// Processes one byte that is not body.
ChunkedDecoder::Phase ChunkedDecoder::next(char c) {
  const auto expect = [c](char wanted, Phase then) { return c == wanted ? then : Phase::failed; };
  const auto skip = [this, c](std::size_t limit, Phase then) {
    return is(kValueChar, c) && ++skipped_ <= limit ? then : Phase::failed;
  };
  switch (phase_) {
    case Phase::size:
      return size_byte(c);
    case Phase::blank:  // invalid, but must be accepted before an extension (RFC 9110 5.6.3)
      return c == ';'                ? Phase::extension
             : c == ' ' || c == '\t' ? skip(kMaxExtensions, Phase::blank)
                                     : Phase::failed;
    case Phase::extension:
      return c == '\r' ? Phase::size_lf : skip(kMaxExtensions, Phase::extension);
    case Phase::size_lf:
      return size_end(c);
    case Phase::data_cr:
      return expect('\r', Phase::data_lf);
    case Phase::data_lf:
      return expect('\n', Phase::size);
    case Phase::trailer_start:
      if (c == '\r') return Phase::end_lf;
      return is(kTokenChar, c) ? skip(kMaxTrailers, Phase::trailer_name) : Phase::failed;
    case Phase::trailer_name:
      if (c == ':') return skip(kMaxTrailers, Phase::trailer_value);
      return is(kTokenChar, c) ? skip(kMaxTrailers, Phase::trailer_name) : Phase::failed;
    case Phase::trailer_value:
      return c == '\r' ? Phase::trailer_lf : skip(kMaxTrailers, Phase::trailer_value);
    case Phase::trailer_lf:
      return expect('\n', Phase::trailer_start);
    case Phase::end_lf:
      return expect('\n', Phase::done);
    case Phase::data:
    case Phase::done:
    case Phase::failed:
      break;
  }
  return Phase::failed;
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
