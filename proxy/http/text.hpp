// The basic syntax of HTTP: token characters, optional white space, decimal numbers.
#pragma once

#include <algorithm>
#include <array>
#include <boost/core/noncopyable.hpp>
#include <cassert>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace proxy::http {

// The grammar rules that a byte belongs to: one table look-up per byte of a head.
enum CharClass : std::uint8_t {
  kTokenChar = 1,   // RFC 9110 5.6.2
  kValueChar = 2,   // SP, HTAB, VCHAR, obs-text: RFC 9110 5.5
  kTargetChar = 4,  // what target.hpp accepts in a path or query
  kHostChar = 8,    // a name that could be resolved
  kDigit = 16,
  kHex = 32,
  kEtagChar = 64,   // RFC 9110 8.8.3
  kAsIsChar = 128,  // a kTargetChar that the canonical URL does not encode
};
extern const std::array<std::uint8_t, 256> kCharClasses;

inline bool is(CharClass wanted, char c) {
  return (kCharClasses[static_cast<unsigned char>(c)] & wanted) != 0;
}
// True for an empty text.
bool all(CharClass wanted, std::string_view text);
// The bytes at the front that are of this class. Inlined, since a head has some ten words to look
// at.
[[gnu::always_inline]] inline std::string_view leading(CharClass wanted, std::string_view text) {
  const auto classes = [text](std::size_t at) {
    return kCharClasses[static_cast<unsigned char>(text[at])];
  };
  std::size_t size = 0;
  while (text.size() - size >= 4 && (classes(size) & classes(size + 1) & classes(size + 2) &
                                     classes(size + 3) & wanted) != 0) {
    size += 4;
  }
  while (size < text.size() && is(wanted, text[size])) ++size;
  return text.substr(0, size);
}
inline bool is_token(std::string_view text) {
  return !text.empty() && all(kTokenChar, text);
}

inline char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}
std::string lower(std::string_view text);
// Equal except for the case of ASCII letters.
inline bool same_word(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}
// Whether one of the words is the same_word().
template <class Words>
bool has_word(const Words& words, std::string_view word) {
  return std::ranges::any_of(words, [word](std::string_view one) { return same_word(one, word); });
}
inline bool is_letter(char c) {
  return lower(c) >= 'a' && lower(c) <= 'z';
}
// Returns the text without SP and HTAB at either end (OWS, RFC 9110 5.6.3).
inline std::string_view trim(std::string_view text) {
  const auto space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

// Takes the first line with its CRLF, or the whole text if it has none.
inline std::string_view take_line(std::string_view& text) {
  const auto end = text.find("\r\n");
  const auto line = text.substr(0, end == text.npos ? end : end + 2);
  text.remove_prefix(line.size());
  return line;
}

// Reads 1*DIGIT. Returns nothing for any other text, or if the number does not fit.
std::optional<std::uint64_t> parse_decimal(std::string_view text);
void append_decimal(std::string& out, std::uint64_t number);
// Appends the byte percent-encoded, such as "%C3" (RFC 3986 2.1).
void append_percent_encoded(std::string& out, char byte);
// Whether each "%" begins a percent-encoding.
bool is_well_encoded(std::string_view text);
// Decodes letters, digits and -._~+@: in the text from `begin` up to `end`, and puts the digits of
// the other percent-encodings into upper case. Does nothing if that part is not well encoded.
void normalize_encodings(std::string& text, std::size_t begin, std::size_t end);

// Collects pieces for a string, because each append() to the string itself costs a call and its
// checks, and a miss writes some hundred pieces. Call flush() last.
class PieceWriter : boost::noncopyable {
 public:
  explicit PieceWriter(std::string& out) : out_(out) {}
  ~PieceWriter() { assert(used_ == 0); }

  // The piece must not be a part of the string. A literal costs a few stores if this is inlined.
  [[gnu::always_inline]] PieceWriter& operator<<(std::string_view piece) {
    if (piece.size() > pieces_.size() - used_) return write_past(piece);
    std::copy_n(piece.data(), piece.size(), pieces_.data() + used_);
    used_ += piece.size();
    return *this;
  }
  PieceWriter& operator<<(std::uint64_t number) {
    std::array<char, 20> digits;  // not initialized
    const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    return *this << std::string_view(digits.data(), written.ptr);
  }

  // The size that the string will have.
  [[nodiscard]] std::size_t size() const { return out_.size() + used_; }
  // Appends to the string what has been collected.
  void flush() { out_.append(pieces_.data(), std::exchange(used_, 0)); }

 private:
  PieceWriter& write_past(std::string_view piece);  // what has no room

  std::string& out_;
  std::array<char, 1024> pieces_;  // not initialized
  std::size_t used_ = 0;
};

// Writes one line of a head.
inline void write_field(PieceWriter& out, std::string_view name, std::string_view value) {
  out << name << ": " << value << "\r\n";
}

}  // namespace proxy::http
