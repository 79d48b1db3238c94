#include "proxy/http/chunked.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

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
